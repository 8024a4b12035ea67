#pragma once

// The kernel of Gemm_Sm80 for one element type. Included by one .cu file a
// type, which are compiled side by side.

#include "kernels/gemm/cuda/sm80_multiply.cuh"

namespace tunedops::cuda {

/// Blocks that a multiprocessor can hold: what they have in registers grows
/// with the tile.
template <int kRows, int kColumns>
inline constexpr int kSm80Blocks = kRows * kColumns >= 128 * 128  ? 2
                                   : kRows * kColumns >= 64 * 128 ? 3
                                                                  : 4;

template <class Tile>
__global__ void __launch_bounds__(kSm80Threads,
                                  kSm80Blocks<Tile::kRows, Tile::kColumns>)
    multiply_sm80(const __grid_constant__ Sm80Product p) {
  extern __shared__ __align__(128) char sm80_memory[];
  Sm80Block<Tile>(p, sm80_memory).run();
}

/// Calls `use` with the kernel that a launch names.
template <class T, int kRows, int kColumns, class Use>
cudaError_t with_sm80_layout(const Sm80Launch& launch, Use use) {
  if (launch.a_has_k_contiguous) {
    return launch.b_has_k_contiguous
               ? use(multiply_sm80<Sm80Tile<T, kRows, kColumns, true, true>>)
               : use(multiply_sm80<Sm80Tile<T, kRows, kColumns, true, false>>);
  }
  return launch.b_has_k_contiguous
             ? use(multiply_sm80<Sm80Tile<T, kRows, kColumns, false, true>>)
             : use(multiply_sm80<Sm80Tile<T, kRows, kColumns, false, false>>);
}

template <class T, class Use>
cudaError_t with_sm80_kernel(const Sm80Launch& launch, Use use) {
  const int tile = launch.tile_rows * 1000 + launch.tile_columns;
  switch (tile) {
  case 64'064:
    return with_sm80_layout<T, 64, 64>(launch, use);
  case 64'128:
    return with_sm80_layout<T, 64, 128>(launch, use);
  case 128'128:
    return with_sm80_layout<T, 128, 128>(launch, use);
  default:
    return cudaErrorInvalidValue;
  }
}

/// A plan may want less than another one of the same kernel: so all of them are
/// allowed whatever there is.
template <class T>
cudaError_t prepare_sm80(const Sm80Launch& launch) {
  return with_sm80_kernel<T>(launch, [&](auto* kernel) {
    return cudaFuncSetAttribute(kernel,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(launch.most_shared_bytes));
  });
}

template <class T>
cudaError_t run_sm80(const Sm80Product& product, const Sm80Launch& launch) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
  config.blockDim = dim3(kSm80Threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = launch.stream;
  return with_sm80_kernel<T>(launch, [&](auto* kernel) {
    return cudaLaunchKernelEx(&config, kernel, product);
  });
}

}  // namespace tunedops::cuda
