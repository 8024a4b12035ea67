#pragma once

// When is a challenger faster? Readings on a shared machine are noisy and
// drift together, so the tuner times a challenger and Default side by side and
// looks at the ratio of each pair. The challenger must win with a bound on the
// median ratio, found from the order of the ratios alone: no assumption about
// the shape of the noise, which has long tails. A long call leaves time for too
// few ratios for that: how far they lie apart has to tell then.

#include <cstddef>
#include <span>
#include <vector>

namespace tunedops {

double median(std::vector<double> values);

/// How often a bound on the ratios of all finalists together may be wrong.
inline constexpr double kDoubt = 0.004;

/// An upper bound of the median that is too low with at most that probability.
/// It is infinite for so few values (7 for 0.4 %) that their order cannot give
/// that.
double median_upper_bound(std::vector<double> values, double doubt = kDoubt);

/// How far the middle half of the values reaches to either side, relative to
/// their median: half of the distance of the quartiles. Long tails do not show.
double relative_spread(std::vector<double> values);

/// How many challengers the final compares with Default.
inline constexpr std::size_t kFinalists = 3;

/// So many ratios are judged by their order, which can leave out the largest:
/// one disturbed reading does not matter then.
inline constexpr std::size_t kEnoughRatios = 12;

/// An upper bound of what fewer ratios scatter about: Student's, on their
/// logarithms, with 99.6 % confidence for all `finalists` together.
double few_ratios_upper_bound(const std::vector<double>& ratios,
                              std::size_t finalists);

/// One or two ratios do not show their noise: their bound is the largest times
/// this. So whoever takes half of Default's time wins, and nobody does only
/// because Default was disturbed and took half as long again.
inline constexpr double kUnknownNoise = 1.9;

/// Whatever screening finds within this factor of the best stays in the race:
/// early readings are rough.
inline constexpr double kScreeningSlack = 1.25;

/// A challenger must be faster than Default by at least this share in the
/// median of its ratios, and beyond doubt by any share at all: the bound on the
/// median must be below 1.
inline constexpr double kMargin = 0.01;

/// Of two challengers whose medians differ by less than this share, the one
/// with fewer launches wins, then the one registered first.
inline constexpr double kTie = 0.01;

struct Verdict {
  bool accepted = false;
  double ratio = 1.0;        // median of challenger / Default
  double upper_bound = 1.0;  // of that median
  double spread = 0;         // of the ratios
};

/// `challenger[i]` and `baseline[i]` were measured in the same round. The more
/// `finalists` are compared, the likelier one of them is lucky.
Verdict compare_paired(std::span<const double> challenger,
                       std::span<const double> baseline,
                       std::size_t finalists = 1);

}  // namespace tunedops
