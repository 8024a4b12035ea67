#pragma once

// An output that is computed in tiles, and what is done to its sums on their
// way there, as kernels see it: plain data.

#include <cstdint>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

/// Lines of contiguous elements, each a column of the problem, along which a
/// bias runs too.
struct TileOutput {
  void* out;
  const void* bias;

  std::int64_t line_stride;  // in elements
  std::int64_t batch_stride;

  int lines;   // n
  int length;  // m

  float alpha;
  float beta;
  Activation activation;
  bool bias_is_float;
  bool out_is_float;
};

/// All of it that is known before the addresses are.
inline TileOutput output_of(const GemmProblem& p) {
  TileOutput output{};
  output.line_stride = p.ldc;
  output.batch_stride = p.stride_c;
  output.lines = static_cast<int>(p.n);
  output.length = static_cast<int>(p.m);
  output.activation = p.activation;
  output.bias_is_float = p.bias_dtype == DType::kFloat32;
  output.out_is_float = p.out_dtype == DType::kFloat32;
  return output;
}

}  // namespace tunedops::cuda
