#pragma once

// An output that is computed in tiles, and what is done to its sums on their
// way there, as kernels see it: plain data. Which side of the problem its rows
// are is the kernel's choice.

#include <cstdint>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

struct TileOutput {
  void* out;
  const void* bias;

  std::int64_t row_stride;  // in elements; one of them is 1
  std::int64_t column_stride;
  std::int64_t batch_stride;

  int rows;
  int columns;

  float alpha;
  float beta;
  Activation activation;
  bool bias_is_along_rows;
  bool bias_is_float;
  bool out_is_float;
};

/// All of it that is known before the addresses are.
inline TileOutput output_of(const GemmProblem& p, bool rows_are_m) {
  TileOutput output{};
  output.row_stride = rows_are_m ? 1 : p.ldc;
  output.column_stride = rows_are_m ? p.ldc : 1;
  output.batch_stride = p.stride_c;
  output.rows = static_cast<int>(rows_are_m ? p.m : p.n);
  output.columns = static_cast<int>(rows_are_m ? p.n : p.m);
  output.activation = p.activation;
  output.bias_is_along_rows = rows_are_m;
  output.bias_is_float = p.bias_dtype == DType::kFloat32;
  output.out_is_float = p.out_dtype == DType::kFloat32;
  return output;
}

}  // namespace tunedops::cuda
