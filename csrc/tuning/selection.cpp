#include "tuning/selection.h"

#include <algorithm>
#include <cmath>

namespace tunedops {
namespace {

constexpr std::size_t kFewestWithSpread = 3;

// Quantiles of Student's t for 2 to 10 degrees of freedom. Of one, two or three
// finalists each may be lucky with a probability of kDoubt / 1, / 2 or / 3, so
// that all of them together keep to it.
static_assert(kFinalists == 3);
constexpr double kStudent[kEnoughRatios - kFewestWithSpread][kFinalists] = {
    {11.113, 15.764, 19.326}, {6.322, 8.053, 9.258}, {4.908, 5.951, 6.642},
    {4.262, 5.030, 5.523},    {3.898, 4.524, 4.916}, {3.667, 4.207, 4.540},
    {3.507, 3.991, 4.286},    {3.390, 3.835, 4.103}, {3.301, 3.716, 3.965},
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_upper_bound(std::vector<double> values, double doubt) {
  const auto count = static_cast<int>(values.size());
  if (std::pow(0.5, count) > doubt) {  // even the largest is too low so often
    return INFINITY;
  }
  std::sort(values.begin(), values.end());
  // P(median > r-th smallest) = P(Binomial(count, 1/2) >= r): take the smallest
  // r for which that is at most the doubt. With many values the terms of the
  // sum underflow; the binomial is normal then, and for so many a bound for the
  // least doubt that anyone asks for costs nothing.
  if (count > 1000) {
    constexpr double kDeviations = 3.004;
    const double rank =
        std::ceil(0.5 * count + 0.5 + kDeviations * 0.5 * std::sqrt(count));
    return values[static_cast<std::size_t>(rank) - 1];
  }
  double tail = 0;
  double term = std::pow(0.5, count);  // P(Binomial = count), going down
  int rank = count;
  for (int successes = count; successes > 0; --successes) {
    tail += term;
    if (tail > doubt) {
      break;
    }
    rank = successes;
    term *= static_cast<double>(successes) / (count - successes + 1);
  }
  return values[static_cast<std::size_t>(rank - 1)];
}

double few_ratios_upper_bound(const std::vector<double>& ratios,
                              std::size_t finalists) {
  if (ratios.empty() || ratios.size() >= kEnoughRatios) {
    return INFINITY;
  }
  if (ratios.size() < kFewestWithSpread) {
    return *std::max_element(ratios.begin(), ratios.end()) * kUnknownNoise;
  }
  const auto count = static_cast<double>(ratios.size());
  double mean = 0;
  for (const double ratio : ratios) {
    mean += std::log(ratio) / count;
  }
  double variance = 0;
  for (const double ratio : ratios) {
    variance += std::pow(std::log(ratio) - mean, 2) / (count - 1);
  }
  const auto& of_finalists = kStudent[ratios.size() - kFewestWithSpread];
  const double quantile =
      of_finalists[std::clamp<std::size_t>(finalists, 1, kFinalists) - 1];
  return std::exp(mean + quantile * std::sqrt(variance / count));
}

double relative_spread(std::vector<double> values) {
  const double middle = median(values);
  if (!(middle > 0)) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  // Between two values in proportion, as a median is.
  const auto quantile = [&values](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above],
                     place - static_cast<double>(below));
  };
  return (quantile(0.75) - quantile(0.25)) / 2 / middle;
}

Verdict compare_paired(std::span<const double> challenger,
                       std::span<const double> baseline,
                       std::size_t finalists) {
  std::vector<double> ratios;
  const std::size_t pairs = std::min(challenger.size(), baseline.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratios.push_back(challenger[i] / baseline[i]);
  }
  Verdict verdict;
  if (ratios.empty()) {
    return verdict;
  }
  verdict.ratio = median(ratios);
  verdict.upper_bound =
      pairs < kEnoughRatios
          ? few_ratios_upper_bound(ratios, finalists)
          : median_upper_bound(ratios, kDoubt / static_cast<double>(finalists));
  verdict.spread = relative_spread(ratios);
  verdict.accepted = verdict.upper_bound < 1.0 && verdict.ratio < 1.0 - kMargin;
  return verdict;
}

}  // namespace tunedops
