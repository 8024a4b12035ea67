#pragma once

// Problems of GPUs for tests that need none: what kernels support, and with
// which configs, is known without a device.

#include "fake_ops.h"

namespace tunedops {

/// A plain product for a GPU, packed and aligned. `transpose_a` is what a
/// linear layer's weights are: k is contiguous in both operands.
inline GemmProblem gpu_problem(std::int64_t m, std::int64_t n, std::int64_t k,
                               bool transpose_a = true,
                               DType dtype = DType::kBFloat16) {
  GemmProblem p = gemm_problem(m, n, k);
  p.header.device_type = DeviceType::kCuda;
  p.header.threads = 0;
  p.a_dtype = p.b_dtype = p.out_dtype = dtype;
  p.transpose_a = transpose_a;
  p.lda = transpose_a ? k : m;
  return p;
}

/// Of both operands: `n` as BLAS has them, `t` transposed.
inline constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};

/// A packed product of such a layout.
inline GemmProblem laid_out(std::int64_t m, std::int64_t n, std::int64_t k,
                            const char* layout) {
  GemmProblem p = gpu_problem(m, n, k, layout[0] == 't');
  p.transpose_b = layout[1] == 't';
  p.ldb = p.transpose_b ? n : k;
  return p;
}

/// The same with a batch of packed matrices.
inline GemmProblem in_batches(GemmProblem p, std::int64_t batch) {
  p.batched = true;
  p.batch = batch;
  const PackedStrides packed = packed_strides(p);
  p.stride_a = packed.a;
  p.stride_b = packed.b;
  p.stride_c = packed.c;
  return p;
}

}  // namespace tunedops
