#pragma once

// One matrix product as an op was asked for it: activation(alpha * mat1 @ mat2
// + beta * addend + bias), with 2-D matrices or batches of them. The ops differ
// in how they get here; from here on they are the same.

#include <ATen/core/Tensor.h>

#include <array>
#include <cmath>
#include <optional>

#include "kernels/gemm/gemm_problem.h"
#include "ops/matrix_layout.h"

namespace tunedops {

/// Passed by value: an inlined caller then has no address of it to worry about,
/// and computes with what it knows of the fields.
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
  const at::Tensor* out = nullptr;  // null: a fresh one
  at::IntArrayRef sizes = {};       // of a fresh one, if not the product's own
  // Of the output; undefined: mat1's.
  at::ScalarType asked_dtype = at::ScalarType::Undefined;

  /// Whether the operands make a product at all. Where they do not, torch's
  /// original gets them and says so in its own words.
  bool is_sound() const {
    return has_dims() && inner() == mat2.sizes().end()[-2] &&
           (!batched() || batch() == mat2.sizes()[0]) &&
           are_alike(mat1, mat2) && is_sound_output() &&
           (addend == nullptr || is_sound_term(*addend)) &&
           (bias == nullptr || is_sound_term(*bias));
  }

  bool has_dims() const {
    const auto d = static_cast<std::size_t>(dims);
    return mat1.sizes().size() == d && mat2.sizes().size() == d;
  }

  at::ScalarType out_dtype() const {
    return asked_dtype == at::ScalarType::Undefined ? mat1.scalar_type()
                                                    : asked_dtype;
  }

  bool is_in_place() const {
    return out != nullptr && addend != nullptr && addend->is_same(*out);
  }

  bool reads_addend() const {
    return addend != nullptr && beta != nullptr && beta->toDouble() != 0;
  }

  /// Whether the addend has to be in the output before a kernel runs.
  bool copies_addend() const { return reads_addend() && !is_in_place(); }

  // Of a product that has its dimensions:
  bool is_sound_term(const at::Tensor& term) const {
    // Of the operands' type or of the output's.
    const at::ScalarType dtype = term.scalar_type();
    return (dtype == mat1.scalar_type() || dtype == out_dtype()) &&
           term.device() == mat1.device() && can_expand(term, *this);
  }
  bool batched() const { return dims == 3; }
  std::int64_t rows() const { return mat1.sizes().end()[-2]; }
  std::int64_t columns() const { return mat2.sizes().end()[-1]; }
  std::int64_t inner() const { return mat1.sizes().end()[-1]; }
  std::int64_t batch() const { return batched() ? mat1.sizes()[0] : 1; }

 private:
  static bool are_alike(const at::Tensor& left, const at::Tensor& right) {
    return left.dtype() == right.dtype() && left.device() == right.device();
  }
  static bool can_expand(const at::Tensor& term, Product product);
  // As torch has it: the operands' type or, where that has 16 bits, float.
  bool is_sound_output() const {
    const at::ScalarType dtype = mat1.scalar_type();
    return out_dtype() == dtype || (out_dtype() == at::ScalarType::Float &&
                                    (dtype == at::ScalarType::Half ||
                                     dtype == at::ScalarType::BFloat16));
  }
};

/// Nothing for a scalar that raw kernels cannot take.
inline std::optional<ScalarClass> class_of(const at::Scalar& scalar) {
  if (scalar.isComplex()) {
    return std::nullopt;
  }
  const double value = scalar.toDouble();
  if (value == 0) {
    return ScalarClass::kZero;
  }
  // torch refuses what a float does not reach, and keeps what it takes for 0.
  const auto single = static_cast<float>(value);
  if (single == 0 || (std::isinf(single) && !std::isinf(value))) {
    return std::nullopt;
  }
  return value == 1 ? ScalarClass::kOne : ScalarClass::kAny;
}

/// The product's own shape; it has its dimensions.
class ProductSizes {
 public:
  [[gnu::always_inline]] explicit ProductSizes(const Product& product)
      : sizes_{product.batch(), product.rows(), product.columns()},
        first_(product.batched() ? 0 : 1) {}
  operator at::IntArrayRef() const {  // NOLINT: this is what it is for
    return {sizes_.data() + first_, sizes_.size() - first_};
  }

 private:
  std::array<std::int64_t, 3> sizes_;
  std::size_t first_;
};

/// Where the output lies, before or after it exists.
struct OutputLayout {
  MatrixLayout layout;
  std::uint8_t alignment = 16;
};

/// The layout of a fresh output.
inline OutputLayout fresh_output(const Product& product) {
  OutputLayout output;
  output.layout.row_major = !product.vector;
  output.layout.ld = product.vector ? product.rows() : product.columns();
  output.layout.batch_stride = product.rows() * product.columns();
  return output;
}

/// The product as a problem or, where only torch's original can compute it, why
/// that is so (empty matrices, types that no kernel has, complex scalars, …);
/// null: `problem` is written.
const char* describe(const Product& product, const OutputLayout& output,
                     GemmProblem& problem);

}  // namespace tunedops
