#pragma once

// Products of any size whose operands are in the caches, or get there: small
// ones, for which a library takes longer to begin than to multiply; batches of
// thousands of them; small outputs that are long sums. Tiles are computed in
// registers, straight from the operands where they lie well.
//
// Parameters: `vectors` of rows of a strip, or, with AMX, `rows` of a tile;
// `columns` of a tile; `threads`; `splitk`, parts of k that are summed up side
// by side and added in a fixed order.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmCpuTiled final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_CpuTiled"; }
  DeviceType device_type() const override { return DeviceType::kCpu; }

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::vector<Config> do_configs(const GemmProblem& problem) const override;
  std::optional<Config> do_heuristic(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;
};

}  // namespace tunedops
