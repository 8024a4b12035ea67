#include "tuning/selection.h"

#include <algorithm>
#include <cmath>

namespace tunedops {

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

double median_upper_bound(std::vector<double> values) {
  if (values.empty()) {
    return INFINITY;
  }
  const auto count = static_cast<int>(values.size());
  std::sort(values.begin(), values.end());
  if (count < 8) {
    return values.back() * kFewSamplesPenalty;
  }
  // P(median > r-th smallest) = P(Binomial(count, 1/2) >= r): take the smallest
  // r for which that is at most 0.5 %. With many values the terms of the sum
  // underflow; the binomial is normal then.
  if (count > 1000) {
    constexpr double kDeviations = 2.5758;
    const double rank =
        std::ceil(0.5 * count + 0.5 + kDeviations * 0.5 * std::sqrt(count));
    return values[static_cast<std::size_t>(rank) - 1];
  }
  double tail = 0;
  double term = std::pow(0.5, count);  // P(Binomial = count), going down
  int rank = count;
  for (int successes = count; successes > 0; --successes) {
    tail += term;
    if (tail > 0.005) {
      break;
    }
    rank = successes;
    term *= static_cast<double>(successes) / (count - successes + 1);
  }
  return values[static_cast<std::size_t>(rank - 1)];
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
                       std::span<const double> baseline) {
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
  verdict.upper_bound = median_upper_bound(ratios);
  verdict.spread = relative_spread(ratios);
  verdict.accepted = verdict.upper_bound < 1.0 - kMargin;
  return verdict;
}

}  // namespace tunedops
