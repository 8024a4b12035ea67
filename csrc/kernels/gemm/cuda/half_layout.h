#pragma once

// How the operands of a product of bf16 or fp16 lie in memory, as our tensor
// core kernels copy them: as lines of contiguous elements.

#include <cstdint>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

struct HalfLines {
  bool k_is_contiguous = true;  // so lines are rows or columns, else ks
  /// Every line begins at a multiple of 16 bytes, as copies of many want it.
  bool is_aligned = true;
  std::int64_t length = 0;
  std::int64_t lines = 0;
  std::int64_t line_stride = 0;    // in elements
  std::int64_t matrix_stride = 0;  // 0: all matrices are the same
};

struct HalfLayout {
  HalfLines a;  // of the problem's operands
  HalfLines b;
};
HalfLayout half_layout(const GemmProblem& problem);

}  // namespace tunedops::cuda
