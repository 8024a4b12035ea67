#pragma once

// How many multiprocessors blocks get that come in clusters. The parts of the
// GPU that clusters live in have unequal numbers of them, so large clusters
// leave some idle: shares as seen on an H200.

#include <algorithm>
#include <cmath>

namespace tunedops::cuda {

/// A multiple of `cluster`, the blocks of one.
inline double usable_multiprocessors(int multiprocessors, int cluster) {
  double share = 1;
  if (cluster > 8) {
    share = 0.85;
  } else if (cluster > 4) {
    share = 0.91;
  } else if (cluster > 2) {
    share = 0.94;
  }
  return std::max(1.0, std::floor(share * multiprocessors / cluster)) * cluster;
}

}  // namespace tunedops::cuda
