#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/fill.h"

namespace tunedops::cuda {
namespace {

__global__ void fill(unsigned char* data, unsigned char value,
                     std::size_t bytes) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < bytes; i += stride) {
    data[i] = value;
  }
}

}  // namespace

int fill_bytes(void* data, unsigned char value, std::size_t bytes,
               void* stream) {
  if (bytes == 0) {
    return cudaSuccess;
  }
  constexpr unsigned kThreads = 256;
  constexpr std::size_t kMostBlocks = 4096;
  const std::size_t wanted = (bytes + kThreads - 1) / kThreads;
  const auto blocks =
      static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
  fill<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<unsigned char*>(data), value, bytes);
  return cudaGetLastError();
}

}  // namespace tunedops::cuda
