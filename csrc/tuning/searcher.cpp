#include "tuning/searcher.h"

#include <algorithm>
#include <cmath>

#include "tuning/selection.h"

namespace tunedops {
namespace {

// How much the belief weighs that an unmeasured place errs as all do on
// average, in measurements at that very place.
constexpr float kPrior = 0.5F;

// The squared distance at which a measurement counts a quarter.
constexpr float kReach = 0.5F;

float nearness(const ConfigPoint& left, const ConfigPoint& right) {
  float squares = 0;
  for (std::size_t i = 0; i < kPointDimensions; ++i) {
    const float difference = left.at[i] - right.at[i];
    squares += difference * difference;
  }
  const float ratio = 1 / (1 + squares / kReach);
  return ratio * ratio;
}

}  // namespace

Searcher::Searcher(std::vector<ConfigPoint> points)
    : points_(std::move(points)), is_out_(points_.size()),
      log_predicted_(points_.size()), errors_(points_.size()),
      weights_(points_.size()) {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    log_predicted_[i] = std::log(points_[i].predicted_ms);
  }
}

// The median, since a few configs are always far worse than predicted. A model
// made for another device is off by a factor that all have in common.
double Searcher::mean_error() const { return median(seen_errors_); }

std::optional<Searcher::Proposal> Searcher::next(double doubt) const {
  const auto common = static_cast<float>(mean_error());
  const auto doubt_log = static_cast<float>(doubt);
  std::optional<std::size_t> best;
  float best_log = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (is_out_[i]) {
      continue;
    }
    const float weight = weights_[i] + kPrior;
    const float hoped = log_predicted_[i] +
                        (errors_[i] + kPrior * common) / weight -
                        doubt_log * std::sqrt(kPrior / weight);
    if (hoped < best_log) {
      best_log = hoped;
      best = i;
    }
  }
  if (!best) {
    return std::nullopt;
  }
  return Proposal{.index = *best, .hoped_ms = std::exp(double{best_log})};
}

void Searcher::rule_out(const ConfigPoint& where) {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    is_out_[i] = is_out_[i] || points_[i].at == where.at;
  }
}

void Searcher::learn(const ConfigPoint& where, double milliseconds) {
  const auto error = static_cast<float>(std::log(milliseconds) -
                                        std::log(double{where.predicted_ms}));
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const float weight = nearness(points_[i], where);
    weights_[i] += weight;
    errors_[i] += weight * error;
  }
  seen_errors_.push_back(error);
}

}  // namespace tunedops
