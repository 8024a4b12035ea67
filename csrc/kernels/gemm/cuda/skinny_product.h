#pragma once

// A product with one narrow side, in the terms of the GPU: plain data that goes
// there as a kernel's argument. The wide operand (weights, as a rule) is read
// once from memory, the narrow one stays in the cache.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/gemm/cuda/skinny_config.h"

namespace tunedops::cuda {

/// out[w, n] = activation(alpha * sum over k of wide[w, k] * narrow[n, k]
/// + beta * out[w, n] + bias). Strides are in elements.
struct SkinnyProduct {
  const void* wide = nullptr;
  const void* narrow = nullptr;
  void* out = nullptr;
  const void* bias = nullptr;
  float* partial = nullptr;      // sums of splits, in workspace
  unsigned* counters = nullptr;  // of arrivals at a tile, zero before and after

  std::int64_t wide_count = 0;
  std::int64_t k = 0;
  std::int64_t k_of_split = 0;
  std::int64_t tiles = 0;      // blocks along the wide side, of one matrix
  std::int64_t wide_ld = 0;    // between rows or, if those are contiguous, ks
  std::int64_t narrow_ld = 0;  // between columns
  std::int64_t narrow_k_stride = 1;
  std::int64_t out_wide_stride = 0;
  std::int64_t out_narrow_stride = 0;
  std::int64_t wide_batch_stride = 0;
  std::int64_t narrow_batch_stride = 0;
  std::int64_t out_batch_stride = 0;

  int narrow_count = 0;
  int splits = 1;
  int cluster = 1;  // blocks that add up their splits on the chip: 1 or all
  int warps_wide = 1;
  int warps_k = 1;

  float alpha = 1;
  float beta = 0;
  Activation activation = Activation::kNone;
  bool bias_is_along_wide = true;
  bool bias_is_float = false;
  bool out_is_float = false;
};

/// Everything that choosing and launching a compiled kernel takes.
struct SkinnyLaunch {
  SkinnyVariant variant;
  int rows = 16;  // of a warp
  std::int64_t batch = 1;
  cudaStream_t stream = nullptr;
};

/// One for each element type; they are compiled side by side.
cudaError_t run_skinny_bfloat16(const SkinnyProduct& product,
                                const SkinnyLaunch& launch);
cudaError_t run_skinny_float16(const SkinnyProduct& product,
                               const SkinnyLaunch& launch);
cudaError_t run_skinny_float32(const SkinnyProduct& product,
                               const SkinnyLaunch& launch);

/// Whether the code that was compiled for the current device knows clusters:
/// what was compiled for older ones does not, also on a device that does.
bool skinny_knows_clusters();

}  // namespace tunedops::cuda
