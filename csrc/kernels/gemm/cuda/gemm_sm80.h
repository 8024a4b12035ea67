#pragma once

// Products of bf16 and fp16 on every GPU since Ampere, of any size and
// alignment: tiles of the output, whose operands come through shared memory to
// the tensor cores stage by stage.
//
// What it is for: libraries fall back to kernels that load single elements
// where a side or a leading dimension is no multiple of 8, and take several
// times as long as the same product one column larger. Here such lines are
// copied by 16 bytes like all others, a little more than is needed of each, and
// put right when they are multiplied; outputs are written line by line,
// wherever a line begins.
//
// Parameters: `tile` m x n x k of a block, `stages` that are on their way at
// one time, `splitk`, blocks that share one tile and add it up in a fixed
// order, `turned`: which side of the problem the instruction's rows are.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmSm80 final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_Sm80"; }
  DeviceType device_type() const override { return DeviceType::kCuda; }

  /// More than `configs` offers: whatever fits a block and the workspace.
  Status check(const ProblemKey& key, const Config& config) const override;

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::vector<Config> do_configs(const GemmProblem& problem) const override;
  std::unique_ptr<ConfigSpace>
  do_space(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;
};

}  // namespace tunedops
