#pragma once

// The two ops of the tests: matrix products as they are, and a toy op that is
// nothing like a matrix product, to show that the core does not care. With each
// goes a plain computation that fake kernels run.

#include <algorithm>
#include <charconv>

#include "kernels/gemm/gemm_definition.h"
#include "tuning/plan.h"

namespace tunedops {

// --- y = alpha * x ----------------------------------------------------------

inline constexpr OpId kScaleOp{200};

struct ScaleProblem {
  ProblemHeader header{.op = kScaleOp};
  std::int64_t length = 0;
  std::array<std::uint64_t, 14> reserved{};
};

class ScaleDefinition : public OpDefinition {
 public:
  OpId id() const override { return kScaleOp; }
  std::string_view name() const override { return "vector_scale"; }

  KeyText to_text(const ProblemKey& key) const override {
    return {"ScaleTunableOp_float", "n_" + std::to_string(length_of(key))};
  }

  std::optional<ProblemKey> from_text(const KeyText& text,
                                      Device device) const override {
    ScaleProblem problem;
    problem.header.device_type = device.type;
    problem.header.device_index = device.index;
    const std::string& params = text.params;
    if (params.starts_with("n_")) {
      std::from_chars(params.data() + 2, params.data() + params.size(),
                      problem.length);
    }
    const ProblemKey key = to_key(problem);
    return problem.length > 0 && to_text(key) == text ? std::optional(key)
                                                      : std::nullopt;
  }

  std::vector<Operand> operands(const ProblemKey& key) const override {
    Operand x{.name = "x", .dtype = DType::kFloat32, .inner = length_of(key)};
    Operand y = x;
    y.name = "y";
    y.role = Operand::Role::kOutput;
    return {x, y};
  }

  std::complex<double> reference(const ProblemKey&,
                                 std::span<const Elements> before, double alpha,
                                 double, Position position) const override {
    return alpha * before[0].at(position.inner);
  }

  // Scaling by a power of two is exact.
  Tolerance tolerance(const ProblemKey&) const override { return {}; }
  std::int64_t reference_cost(const ProblemKey&) const override { return 1; }
  double alpha_for_tuning(const ProblemKey&) const override { return 2.0; }

  std::vector<ProblemKey> families(const ProblemKey& key) const override {
    auto problem = from_key<ScaleProblem>(key);
    problem.length = -1;
    return {to_key(problem)};
  }

 private:
  static std::int64_t length_of(const ProblemKey& key) {
    return from_key<ScaleProblem>(key).length;
  }
};

inline ProblemKey scale_problem(std::int64_t length) {
  ScaleProblem problem;
  problem.length = length;
  return to_key(problem);
}

inline void compute_scale(const ProblemKey& key, const Arguments& arguments) {
  const auto* x = static_cast<const float*>(arguments.operands[0]);
  auto* y = static_cast<float*>(arguments.operands[1]);
  for (std::int64_t i = 0; i < from_key<ScaleProblem>(key).length; ++i) {
    y[i] = static_cast<float>(arguments.alpha) * x[i];
  }
}

// --- Matrix products --------------------------------------------------------

/// A plain fp32 product for the CPU with one thread.
inline GemmProblem gemm_problem(std::int64_t m, std::int64_t n,
                                std::int64_t k) {
  GemmProblem p;
  p.header.threads = 1;
  p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat32;
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = m;
  p.ldb = k;
  p.ldc = m;
  return p;
}

/// Any fp32 product, written from the definition and not from the reference
/// that the numeric check uses.
inline void compute_gemm(const ProblemKey& key, const Arguments& arguments) {
  const auto p = from_key<GemmProblem>(key);
  const auto* a = static_cast<const float*>(arguments.operands[kGemmA]);
  const auto* b = static_cast<const float*>(arguments.operands[kGemmB]);
  const auto* bias = static_cast<const float*>(arguments.operands[kGemmBias]);
  auto* out = static_cast<float*>(arguments.operands[kGemmOut]);
  for (std::int64_t z = 0; z < p.batch; ++z) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        float sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          sum += a[z * p.stride_a +
                   (p.transpose_a ? i * p.lda + l : l * p.lda + i)] *
                 b[z * p.stride_b +
                   (p.transpose_b ? l * p.ldb + j : j * p.ldb + l)];
        }
        float& target = out[z * p.stride_c + j * p.ldc + i];
        sum *= static_cast<float>(arguments.alpha);
        if (p.beta != ScalarClass::kZero) {
          sum += static_cast<float>(arguments.beta) * target;
        }
        sum += p.has_bias() ? bias[i] : 0.0F;
        target = p.activation == Activation::kRelu ? std::max(sum, 0.0F) : sum;
      }
    }
  }
}

// --- Either -----------------------------------------------------------------

/// What a fake kernel needs to know of its op.
struct FakeOp {
  OpId id;
  const OpDefinition& definition;
  void (*compute)(const ProblemKey&, const Arguments&);
};

inline const FakeOp& gemm_op() {
  static const GemmDefinition definition;
  static const FakeOp op{kGemmOp, definition, &compute_gemm};
  return op;
}

inline const FakeOp& scale_op() {
  static const ScaleDefinition definition;
  static const FakeOp op{kScaleOp, definition, &compute_scale};
  return op;
}

}  // namespace tunedops
