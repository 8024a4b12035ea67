#include "kernels/gemm/gemm_definition.h"

#include <algorithm>
#include <cmath>

namespace tunedops {
namespace {

Operand matrix(std::string_view name, DType dtype, std::int64_t inner,
               std::int64_t outer, std::int64_t ld, std::int64_t batch,
               std::int64_t stride, std::size_t alignment) {
  return {.name = name,
          .dtype = dtype,
          .role = Operand::Role::kInput,
          .inner = inner,
          .outer = outer,
          .outer_stride = ld,
          .batch = stride == 0 ? 1 : batch,
          .batch_stride = stride,
          .alignment = alignment};
}

// Most products are of real numbers, and these sums are most of what checking
// costs: no complex arithmetic for them.
template <class A, class B>
std::complex<double> sum_of_products(const GemmProblem& p, const A& a,
                                     const B& b) {
  if (!is_complex(p.a_dtype) && !is_complex(p.b_dtype)) {
    double sum = 0;
    for (std::int64_t i = 0; i < p.k; ++i) {
      sum += a(i).real() * b(i).real();
    }
    return sum;
  }
  std::complex<double> sum = 0;
  for (std::int64_t i = 0; i < p.k; ++i) {
    sum += (p.conjugate_a ? std::conj(a(i)) : a(i)) *
           (p.conjugate_b ? std::conj(b(i)) : b(i));
  }
  return sum;
}

double activate(Activation activation, double x) {
  switch (activation) {
  case Activation::kNone:
    return x;
  case Activation::kRelu:
    return x > 0 ? x : 0;
  case Activation::kGelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::kGeluTanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

// The precision in which products are formed, which may be below the operands'.
double product_epsilon(const GemmProblem& p) {
  if (p.a_dtype == DType::kFloat32) {
    if ((p.header.precision & kAllowBf16) != 0) {
      return epsilon_of(DType::kBFloat16);
    }
    if ((p.header.precision & kAllowTf32) != 0) {
      return 0x1p-10;
    }
  }
  return epsilon_of(p.a_dtype);
}

double accumulation_epsilon(const GemmProblem& p) {
  if (p.a_dtype == DType::kFloat16 &&
      (p.header.precision & kFp16Accumulation) != 0) {
    return epsilon_of(DType::kFloat16);
  }
  return std::min(epsilon_of(p.a_dtype), epsilon_of(DType::kFloat32));
}

}  // namespace

std::vector<Operand> GemmDefinition::operands(const ProblemKey& key) const {
  const auto p = from_key<GemmProblem>(key);
  Operand out = matrix("out", p.out_dtype, p.m, p.n, p.ldc, p.batch, p.stride_c,
                       p.align_out);
  out.role = p.beta == ScalarClass::kZero ? Operand::Role::kOutput
                                          : Operand::Role::kInOut;
  return {
      matrix("a", p.a_dtype, p.transpose_a ? p.k : p.m,
             p.transpose_a ? p.m : p.k, p.lda, p.batch, p.stride_a, p.align_a),
      matrix("b", p.b_dtype, p.transpose_b ? p.n : p.k,
             p.transpose_b ? p.k : p.n, p.ldb, p.batch, p.stride_b, p.align_b),
      out,
      matrix("bias", p.bias_dtype, p.m, 1, p.m, 1, 0, p.align_bias),
  };
}

std::complex<double> GemmDefinition::reference(const ProblemKey& key,
                                               std::span<const Elements> before,
                                               double alpha, double beta,
                                               Position position) const {
  const auto p = from_key<GemmProblem>(key);
  const std::int64_t row = position.inner;
  const std::int64_t column = position.outer;
  // The i-th of the k elements of a's row and of b's column.
  const auto a = [&, elements = before[kGemmA]](std::int64_t i) {
    return elements.at(position.batch * p.stride_a +
                       (p.transpose_a ? row * p.lda + i : i * p.lda + row));
  };
  const auto b = [&, elements = before[kGemmB]](std::int64_t i) {
    return elements.at(
        position.batch * p.stride_b +
        (p.transpose_b ? i * p.ldb + column : column * p.ldb + i));
  };
  std::complex<double> sum = alpha * sum_of_products(p, a, b);
  if (p.beta != ScalarClass::kZero) {
    const std::int64_t in_c =
        position.batch * p.stride_c + column * p.ldc + row;
    sum += beta * before[kGemmOut].at(in_c);
  }
  if (p.has_bias()) {
    sum += before[kGemmBias].at(row);
  }
  return p.activation == Activation::kNone ? sum
                                           : activate(p.activation, sum.real());
}

Tolerance GemmDefinition::tolerance(const ProblemKey& key) const {
  const auto p = from_key<GemmProblem>(key);
  // Sums of k products of standard-normal numbers grow with sqrt(k). Rounding
  // while accumulating adds up over k steps of that size; rounding of the
  // products themselves averages out.
  const double k = static_cast<double>(p.k) + 16;
  const bool rounds_products = product_epsilon(p) > epsilon_of(p.a_dtype);
  return {.absolute =
              2 * accumulation_epsilon(p) * k +
              (rounds_products ? 4 * product_epsilon(p) * std::sqrt(k) : 0.0),
          .relative = 2 * epsilon_of(p.out_dtype)};
}

std::int64_t GemmDefinition::reference_cost(const ProblemKey& key) const {
  return from_key<GemmProblem>(key).k;
}

// Values that no kernel could confuse with 0 or 1, exact in every type.
double GemmDefinition::alpha_for_tuning(const ProblemKey& key) const {
  return from_key<GemmProblem>(key).alpha == ScalarClass::kAny ? 1.25 : 1.0;
}

double GemmDefinition::beta_for_tuning(const ProblemKey& key) const {
  switch (from_key<GemmProblem>(key).beta) {
  case ScalarClass::kZero:
    return 0;
  case ScalarClass::kOne:
    return 1;
  case ScalarClass::kAny:
    return -0.75;
  }
  return 0;
}

std::vector<ProblemKey> GemmDefinition::families(const ProblemKey& key) const {
  using Dimension = std::int64_t GemmProblem::*;
  constexpr Dimension kInner[] = {&GemmProblem::m, &GemmProblem::n,
                                  &GemmProblem::k};
  const auto problem = from_key<GemmProblem>(key);
  GemmProblem base = problem;
  // What follows from a dimension varies with it: in a cache that grows, the
  // distance between heads and the leading dimension of its transpose.
  base.lda = base.ldb = base.ldc = 0;
  base.stride_a = base.stride_b = base.stride_c = 0;
  base.align_a = base.align_b = base.align_out = base.align_bias = 0;

  std::vector<ProblemKey> families;
  const auto add = [&](auto is_free) {
    GemmProblem family = base;
    for (const Dimension dimension : kInner) {
      if (is_free(dimension)) {
        family.*dimension = -1;
      }
    }
    families.push_back(to_key(family));
  };
  for (const Dimension dimension : kInner) {
    add([&](Dimension other) { return other == dimension; });
  }
  GemmProblem family = base;
  family.batch = -1;
  families.push_back(to_key(family));
  // A length that is there twice: attention over a whole sequence.
  if (problem.m == problem.n || problem.m == problem.k ||
      problem.n == problem.k) {
    const std::int64_t length = problem.m == problem.n ? problem.m : problem.k;
    add([&](Dimension other) { return problem.*other == length; });
  }
  return families;
}

PackedStrides packed_strides(const GemmProblem& p) {
  return {.a = p.lda * (p.transpose_a ? p.m : p.k),
          .b = p.ldb * (p.transpose_b ? p.k : p.n),
          .c = p.ldc * p.n};
}

}  // namespace tunedops
