#pragma once

// The strip of shared memory through which a warp's sums go to the output:
// eight rows, so many columns. Which of them a lane writes.

namespace tunedops::cuda {

inline constexpr int kStripRows = 8;

/// Two columns of a row. They are written at once if the second is behind the
/// first.
struct StripPair {
  int one;
  int other;
};

/// Of a row of so many columns, a power of two, and half as many lanes. Pairs
/// begin at multiples of two elements in memory; where the row does not (it is
/// `odd`), its first and its last column are left to the last lane.
constexpr StripPair strip_pair(int lane, int odd, int columns) {
  const int one = 2 * lane + odd;
  return {one, (one + 1) & (columns - 1)};
}

}  // namespace tunedops::cuda
