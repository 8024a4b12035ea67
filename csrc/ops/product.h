#pragma once

// One matrix product as an op was asked for it: activation(alpha * mat1 @ mat2
// + beta * addend + bias), with 2-D matrices or batches of them. The ops differ
// in how they get here; from here on they are the same.

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <optional>

#include "kernels/gemm/gemm_problem.h"
#include "ops/matrix_layout.h"

namespace tunedops {

struct Product {
  const at::Tensor& mat1;
  const at::Tensor& mat2;
  int dims = 2;         // 3: batches of matrices
  bool vector = false;  // mat2 was a vector, as aten::addmv has it
  const at::Tensor* addend = nullptr;  // read only if beta is not 0
  const at::Tensor* bias = nullptr;    // one value per column, added once
  const at::Scalar* alpha = nullptr;   // null: 1
  const at::Scalar* beta = nullptr;    // null: 0
  Activation activation = Activation::kNone;

  /// Whether the operands make a product at all. Where they do not, torch's
  /// original gets them and says so in its own words.
  bool is_sound() const;

  // Of a sound product:
  bool batched() const { return dims == 3; }
  std::int64_t rows() const { return mat1.size(dims - 2); }
  std::int64_t columns() const { return mat2.size(dims - 1); }
  c10::DimVector sizes() const {
    return batched() ? c10::DimVector{mat1.size(0), rows(), columns()}
                     : c10::DimVector{rows(), columns()};
  }
};

/// Where the output lies, before or after it exists.
struct OutputLayout {
  MatrixLayout layout;
  std::uint8_t alignment = 16;
};

/// The layout of a fresh output.
OutputLayout fresh_output(const Product& product);

/// The product as a problem, or nothing if only torch's original can compute
/// it (empty matrices, types that no kernel has, complex scalars, …).
std::optional<GemmProblem> describe(const Product& product,
                                    const OutputLayout& output);

}  // namespace tunedops
