#pragma once

// From sums to results: scale, add what was there, add the bias, activate,
// round. Written with vectors because at 16 columns a scalar GELU would take
// as long as reading the weights.

#include "kernels/gemm/cpu/skinny_product.h"

#include <cstdint>

namespace tunedops::cpu {
namespace {

/// e^x to 2 units in the last place; NaN stays NaN, and what exceeds a float
/// becomes infinity.
template <class Simd>
typename Simd::Vector exponential(typename Simd::Vector x) {
  using Vector = typename Simd::Vector;
  // Clamped, so that the exponent below stays within its eight bits.
  const Vector low = Simd::broadcast(-87.0F);
  const Vector high = Simd::broadcast(88.8F);
  x = x < low ? low : x;
  x = x > high ? high : x;
  // x = whole * log(2) + rest. Adding 1.5 * 2^23 leaves the nearest integer in
  // the low bits of the sum, from where it is shifted into an exponent.
  const Vector magic = Simd::broadcast(12582912.0F);
  const Vector shifted =
      Simd::multiply_add(x, Simd::broadcast(1.44269504F), magic);
  const Vector whole = shifted - magic;
  Vector rest = Simd::multiply_add(whole, Simd::broadcast(-0.693145752F), x);
  rest = Simd::multiply_add(whole, Simd::broadcast(-1.42860677e-6F), rest);
  // Taylor's series is good enough on [-log(2)/2, log(2)/2].
  Vector sum = Simd::broadcast(1.0F / 5040);
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F / 720));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F / 120));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F / 24));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F / 6));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(0.5F));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F));
  sum = Simd::multiply_add(sum, rest, Simd::broadcast(1.0F));
  using Integers = typename Simd::Integers;
  const Integers power = (reinterpret_cast<Integers>(shifted) + 127) << 23;
  return sum * reinterpret_cast<Vector>(power);
}

/// x times the normal distribution's probability of a value below x.
template <class Simd>
typename Simd::Vector gelu(typename Simd::Vector x) {
  using Vector = typename Simd::Vector;
  const Vector zero{};
  const Vector one = Simd::broadcast(1.0F);
  const Vector z =
      (x < zero ? -x : x) * Simd::broadcast(0.707106781F);  // |x| / sqrt(2)
  // erfc(z) = exp(-z^2) * t * polynomial(t), t = 2 / (2 + z), where the
  // polynomial was fitted for least relative error (1.6e-7) over all z >= 0.
  const Vector t = Simd::broadcast(2.0F) / (Simd::broadcast(2.0F) + z);
  constexpr float kCoefficients[] = {
      0.0643828036F, 0.0309055955F, -0.198709535F, 0.0795694266F, 0.0582239773F,
      0.180423136F,  0.246511233F,  0.282104271F,  0.282094746F};
  Vector sum = Simd::broadcast(-0.0255058128F);
  for (const float coefficient : kCoefficients) {
    sum = Simd::multiply_add(sum, t, Simd::broadcast(coefficient));
  }
  const Vector tail =
      Simd::broadcast(0.5F) * t * sum * exponential<Simd>(-z * z);
  return x * (x < zero ? tail : one - tail);
}

/// x * (1 + tanh(u)) / 2 with u = sqrt(2 / pi) * (x + 0.044715 * x^3), which is
/// x / (1 + exp(-2 * u)).
template <class Simd>
typename Simd::Vector gelu_tanh(typename Simd::Vector x) {
  using Vector = typename Simd::Vector;
  const Vector one = Simd::broadcast(1.0F);
  const Vector inner = Simd::multiply_add(
      x * x, Simd::broadcast(-0.0713548163F), Simd::broadcast(-1.59576912F));
  return x / (one + exponential<Simd>(x * inner));
}

template <class Simd>
typename Simd::Vector activate_vector(Activation activation,
                                      typename Simd::Vector x) {
  switch (activation) {
  case Activation::kNone:
    break;
  case Activation::kRelu:
    return x < typename Simd::Vector{} ? typename Simd::Vector{} : x;
  case Activation::kGelu:
    return gelu<Simd>(x);
  case Activation::kGeluTanh:
    return gelu_tanh<Simd>(x);
  }
  return x;
}

template <class Simd, class Element>
typename Simd::Vector load_some(const Element* p, int count) {
  return count == Simd::kWidth ? Simd::load(p) : Simd::load_partial(p, count);
}

/// Makes results of sums and writes them: `count` rows of one column from `row`
/// on, at `out`.
template <class Simd, class Element>
void finish_vector(const SkinnyProduct& product, typename Simd::Vector sum,
                   std::int64_t row, int count, Element* out) {
  using Vector = typename Simd::Vector;
  // As in BLAS, alpha = 0 means that a and b do not count, NaN or not.
  Vector x =
      product.alpha == 0.0F ? Vector{} : Simd::broadcast(product.alpha) * sum;
  if (product.beta != 0.0F) {
    x = Simd::multiply_add(Simd::broadcast(product.beta),
                           load_some<Simd>(out, count), x);
  }
  if (product.bias != nullptr && product.bias_is_float) {
    const auto* const bias = static_cast<const float*>(product.bias);
    x += load_some<Simd>(bias + row, count);
  } else if (product.bias != nullptr) {
    const auto* const bias = static_cast<const Element*>(product.bias);
    x += load_some<Simd>(bias + row, count);
  }
  x = activate_vector<Simd>(product.activation, x);
  if (count == Simd::kWidth) {
    Simd::store(out, x);
  } else {
    Simd::store_partial(out, x, count);
  }
}

/// Writes `rows` rows of out from `row` on; sums are [n][stride], each column
/// readable up to a whole vector.
template <class Simd, class Element>
void finish_panel(const SkinnyProduct& product, const float* sums,
                  std::int64_t stride, std::int64_t row, std::int64_t rows) {
  for (int j = 0; j < product.n; ++j) {
    Element* const out =
        static_cast<Element*>(product.out) + j * product.ldc + row;
    for (std::int64_t i = 0; i < rows; i += Simd::kWidth) {
      const int count =
          rows - i < Simd::kWidth ? static_cast<int>(rows - i) : Simd::kWidth;
      finish_vector<Simd>(product, Simd::load(sums + j * stride + i), row + i,
                          count, out + i);
    }
  }
}

}  // namespace
}  // namespace tunedops::cpu
