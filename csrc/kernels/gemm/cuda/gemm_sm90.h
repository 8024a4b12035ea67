#pragma once

// Products of bf16 and fp16 on Hopper, of any size and alignment. Blocks as
// many as the GPU has multiprocessors walk through the tiles of the output; in
// each, one warp has the copy engine bring the operands and eight multiply them
// on the tensor cores.
//
// What it is for: libraries fall back to kernels that load single elements
// where a side or a leading dimension is no multiple of 8, and take up to nine
// times as long as the same product one column larger. Here the lines of such
// operands are shifted to where the tensor cores want them on their way to
// shared memory (sm90_shift.cuh) by four warps that do nothing else, or are
// copied to workspace before (sm90_packing.h); and outputs are written line by
// line, wherever a line begins.
//
// Parameters: `tile` m x n x k of a block, `cluster` of tiles that share what
// they copy, `stages` of the ring of operands, `splitk`, blocks that share one
// tile and add it up in a fixed order, `turned`: for few columns n, `packed`:
// operands that are not aligned are copied first, `aside`: outputs that are not
// aligned are written while the next tile is multiplied.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmSm90 final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_Sm90"; }
  DeviceType device_type() const override { return DeviceType::kCuda; }

  /// More than `configs` offers: whatever fits a block and the workspace.
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
