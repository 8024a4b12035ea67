#pragma once

// Configs of a kernel that cuts a product into tiles, in the order in which a
// model of costs expects them: the few that are proposed, and what a search
// begins with.

#include <vector>

#include "tuning/listed_space.h"

namespace tunedops::cuda {

/// A config as a search sees it, with what the kernel's model says of it.
struct TiledConfig {
  Config config;
  double us = 0;
  Coordinates at{};
};

/// The fastest by the model first; those that it takes for the same stay in
/// their order.
std::vector<ListedSpace::Entry>
fastest_first(const std::vector<TiledConfig>& all);

/// The first six: what is proposed of a kernel whose own guess nobody measured.
std::vector<Config> proposals(const std::vector<ListedSpace::Entry>& sorted);

}  // namespace tunedops::cuda
