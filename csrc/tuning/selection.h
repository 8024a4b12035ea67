#pragma once

// When is a challenger faster? Readings on a shared machine are noisy and
// drift together, so the tuner times a challenger and Default side by side and
// looks at the ratio of each pair. The challenger must win with a bound on the
// median ratio, found from the order of the ratios alone: no assumption about
// the shape of the noise, which has long tails.

#include <cstddef>
#include <span>
#include <vector>

namespace tunedops {

double median(std::vector<double> values);

/// An upper bound of the median that holds with about 99.5 % confidence. With
/// fewer than 8 values the order cannot give that, and the largest value,
/// raised by `kFewSamplesPenalty`, takes its place.
double median_upper_bound(std::vector<double> values);
inline constexpr double kFewSamplesPenalty = 1.1;

/// How far the middle half of the values reaches to either side, relative to
/// their median: half of the distance of the quartiles. Long tails do not show.
double relative_spread(std::vector<double> values);

/// How many challengers the final compares with Default.
inline constexpr std::size_t kFinalists = 3;

/// Whatever screening finds within this factor of the best stays in the race:
/// early readings are rough.
inline constexpr double kScreeningSlack = 1.25;

/// A challenger must be faster than Default by at least this share.
inline constexpr double kMargin = 0.02;

/// Of two challengers whose medians differ by less than this share, the one
/// with fewer launches wins, then the one registered first.
inline constexpr double kTie = 0.01;

struct Verdict {
  bool accepted = false;
  double ratio = 1.0;        // median of challenger / Default
  double upper_bound = 1.0;  // of that median
  double spread = 0;         // of the ratios
};

/// `challenger[i]` and `baseline[i]` were measured in the same round.
Verdict compare_paired(std::span<const double> challenger,
                       std::span<const double> baseline);

}  // namespace tunedops
