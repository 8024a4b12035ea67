#pragma once

// The numbers of threads that are worth trying: few, however many there are.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tunedops::cpu {

/// As many as there are, but no more than pieces of work.
inline int useful_threads(std::int64_t pieces, int most) {
  return static_cast<int>(std::clamp<std::int64_t>(most, 1, pieces));
}

/// Powers of two below that, and that.
inline std::vector<int> thread_counts(std::int64_t pieces, int most) {
  const int full = useful_threads(pieces, most);
  std::vector<int> counts;
  for (int threads = 1; threads < full; threads *= 2) {
    counts.push_back(threads);
  }
  counts.push_back(full);
  return counts;
}

}  // namespace tunedops::cpu
