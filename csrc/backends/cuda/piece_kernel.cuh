#pragma once

// What kernels over pieces of operands share: the launch, and access to
// elements that may be aligned worse than their type.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "backends/cuda/element_pieces.h"

namespace tunedops::cuda {

inline constexpr unsigned kPieceThreads = 256;

/// Runs `kernel(arguments...)`, whose threads share `items` among them as
/// `for (i = first_item(); i < items; i += item_stride())`.
template <class... Parameters, class... Arguments>
cudaError_t launch_over(std::int64_t items, cudaStream_t stream,
                        void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (items == 0) {
    return cudaSuccess;
  }
  constexpr std::int64_t kMostBlocks = 4096;
  const std::int64_t wanted = (items + kPieceThreads - 1) / kPieceThreads;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min(wanted, kMostBlocks)));
  config.blockDim = dim3(kPieceThreads);
  config.stream = stream;
  // Unlike <<<>>>, reports its own error and not one left by somebody else.
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

__device__ inline std::int64_t first_item() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ inline std::int64_t item_stride() {
  return std::int64_t{gridDim.x} * blockDim.x;
}

/// Byte by byte if need be; a GPU faults where an address is no multiple of
/// the size.
template <class T>
__device__ T load_element(const T* place, bool is_aligned) {
  if (is_aligned) {
    return *place;
  }
  T value;
  for (unsigned i = 0; i < sizeof(T); ++i) {
    reinterpret_cast<unsigned char*>(&value)[i] =
        reinterpret_cast<const unsigned char*>(place)[i];
  }
  return value;
}

template <class T>
__device__ void store_element(T* place, const T& value, bool is_aligned) {
  if (is_aligned) {
    *place = value;
    return;
  }
  for (unsigned i = 0; i < sizeof(T); ++i) {
    reinterpret_cast<unsigned char*>(place)[i] =
        reinterpret_cast<const unsigned char*>(&value)[i];
  }
}

}  // namespace tunedops::cuda
