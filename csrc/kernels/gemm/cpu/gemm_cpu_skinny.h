#pragma once

// Products with at most 32 columns (rows of torch's x), as in decoding a
// language model: every weight is used a few times only, so the time is that
// of reading the weights from memory, and general libraries, which rearrange
// them first, take a multiple of it. Here they are streamed once, as they lie.
//
// Parameters: `rows` (weights transposed) or `vectors` (not) is the register
// block along m; `prefetch` whether software asks for memory ahead; `threads`.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmCpuSkinny final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_CpuSkinny"; }

  DeviceType device_type() const override { return DeviceType::kCpu; }

  /// More than `configs` offers: every combination that the loops can run.
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
