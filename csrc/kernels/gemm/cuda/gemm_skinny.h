#pragma once

// Products with at most 32 columns (rows of torch's x), as in decoding a
// language model. Every weight is used a few times only, so the time is that of
// reading the weights once from memory; libraries, which arrange them for large
// products first, take longer. Here each warp reads its weights by 16 bytes a
// lane and multiplies them as they lie: bf16 and fp16 on the tensor cores, fp32
// on the arithmetic units.
//
// Parameters: `rows` of the wide side for a warp; `warps` of a block, along the
// wide side and along k; `splitk`, blocks that share one output tile and add it
// up within the same launch, in a fixed order.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmSkinny final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_Skinny"; }
  DeviceType device_type() const override { return DeviceType::kCuda; }

  /// More than `configs` offers: whatever fits a block and a launch.
  Status check(const ProblemKey& key, const Config& config) const override;

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::vector<Config> do_configs(const GemmProblem& problem) const override;
  std::unique_ptr<ConfigSpace>
  do_space(const GemmProblem& problem) const override;
  std::optional<Config> do_heuristic(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;
};

}  // namespace tunedops
