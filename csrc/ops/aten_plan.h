#pragma once

// Plans that run one of torch's own operators. In a call they get the caller's
// tensors (wrapping raw pointers costs more than a small product); the tuner
// gives them raw pointers, which they wrap beforehand.

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include "kernels/gemm/gemm_problem.h"
#include "tuning/plan.h"

namespace tunedops {

class AtenGemmPlan : public Plan {
 public:
  explicit AtenGemmPlan(const GemmProblem& problem)
      : Plan(/*takes_tensors=*/true), problem_(problem) {}

  /// activation(mat1 @ mat2 + bias) as a fresh tensor; bias may be null.
  virtual at::Tensor call(const at::Tensor& mat1, const at::Tensor& mat2,
                          const at::Tensor* bias) const = 0;

 protected:
  const GemmProblem& problem() const { return problem_; }

 private:
  GemmProblem problem_;
};

/// Operands of a problem as tensors over raw memory: x @ w = out, all row-major
/// views of the BLAS frame (out is [n, m], x [n, k], w [k, m]).
struct GemmTensors {
  at::Tensor x;
  at::Tensor w;
  at::Tensor out;
  at::Tensor bias;  // undefined if there is none
};
GemmTensors wrap_operands(const GemmProblem& problem,
                          const Arguments& arguments);

/// Runs `body` as torch's kernels are run from inside an op, and turns what it
/// throws into a Status: a candidate that fails is no bug.
Status run_aten(c10::function_ref<void()> body);

/// The same for a body that writes into a plan's output: a part of that may be
/// written when it fails, so the failure is thrown.
Status write_by_aten(c10::function_ref<void()> body);

}  // namespace tunedops
