#pragma once

// Configs of a kernel that cuts a product into tiles, in the order in which a
// model of costs expects them: the few that are proposed, and what a search
// begins with.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "tuning/listed_space.h"

namespace tunedops::cuda {

/// A config as the model and a search see it.
struct TiledConfig {
  Config config;
  Tiling tiling;
  int splits = 1;
  Coordinates at{};
};

/// The fastest by the model first; those that it takes for the same stay in
/// their order.
std::vector<ListedSpace::Entry>
fastest_first(const TilingCost& cost, const std::vector<TiledConfig>& all);

/// The first six: what is proposed of a kernel whose own guess nobody measured.
std::vector<Config> proposals(const std::vector<ListedSpace::Entry>& sorted);

}  // namespace tunedops::cuda
