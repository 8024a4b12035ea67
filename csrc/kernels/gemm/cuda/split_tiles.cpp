#include "kernels/gemm/cuda/split_tiles.h"

#include <limits>

#include "tuning/plan.h"

namespace tunedops::cuda {

std::size_t SplitTiles::counters() const {
  return meet_in_memory ? static_cast<std::size_t>(tiles * batch) : 0;
}

std::size_t SplitTiles::workspace_bytes() const {
  return meet_in_memory
             ? sizeof(float) *
                   static_cast<std::size_t>(blocks() * tile.m * tile.n)
             : 0;
}

bool can_split(const GemmProblem& p, const SplitTiles& x, std::int64_t k_steps,
               std::size_t workspace_cap) {
  constexpr int kMostSplits = 64;
  if (x.splits < 1 || x.splits > kMostSplits) {
    return false;
  }
  // Before all that multiplies them.
  if (x.tiles > std::numeric_limits<std::int32_t>::max() / x.batch / x.splits) {
    return false;
  }
  return x.splits == 1 ||
         ((p.header.precision & kNoSplitK) == 0 && x.splits <= k_steps &&
          x.tiles * x.batch <= static_cast<std::int64_t>(kMostCounters) &&
          x.workspace_bytes() <= workspace_cap);
}

}  // namespace tunedops::cuda
