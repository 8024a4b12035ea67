#pragma once

// Matrix products as the core sees them: key text, operands, reference. See
// OpDefinition for what each method promises.

#include "kernels/gemm/gemm_problem.h"
#include "tuning/op_definition.h"

namespace tunedops {

class GemmDefinition final : public OpDefinition {
 public:
  OpId id() const override { return kGemmOp; }
  std::string_view name() const override { return "gemm"; }

  KeyText to_text(const ProblemKey& problem) const override;
  std::optional<ProblemKey> from_text(const KeyText& text,
                                      Device device) const override;

  std::vector<Operand> operands(const ProblemKey& problem) const override;
  std::complex<double> reference(const ProblemKey& problem,
                                 std::span<const Elements> before, double alpha,
                                 double beta, Position position) const override;
  Tolerance tolerance(const ProblemKey& problem) const override;
  std::int64_t reference_cost(const ProblemKey& problem) const override;
  double alpha_for_tuning(const ProblemKey& problem) const override;
  double beta_for_tuning(const ProblemKey& problem) const override;
  std::vector<ProblemKey> families(const ProblemKey& problem) const override;
};

/// Batch strides of matrices that lie one behind the other.
struct PackedStrides {
  std::int64_t a, b, c;
};
PackedStrides packed_strides(const GemmProblem& problem);

std::string_view to_text(Activation activation);
std::optional<Activation> activation_from_text(std::string_view text);

}  // namespace tunedops
