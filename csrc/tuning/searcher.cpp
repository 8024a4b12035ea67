#include "tuning/searcher.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tunedops {
namespace {

// How much the belief weighs that an unmeasured place errs as others do, in
// measurements at that very place.
constexpr float kPrior = 0.5F;

// Which of the errors, from the lowest, an unmeasured place is believed to
// have. Below the half, or where a search looked in vain would say what to
// think of places where it never was.
constexpr double kUsual = 0.33;

// The squared distance at which a measurement counts a quarter.
constexpr float kReach = 0.5F;

// The logarithm of 2: so much slower than expected is believed, and more once
// neighbours were slow too. A single one may be a disturbed reading.
constexpr double kMostSurprise = 0.7;

bool is_time(double milliseconds) {
  return milliseconds > 0 && std::isfinite(milliseconds);
}

float nearness(const ConfigPoint& left, const ConfigPoint& right) {
  float squares = 0;
  for (std::size_t i = 0; i < kPointDimensions; ++i) {
    const float difference = left.at[i] - right.at[i];
    squares += difference * difference;
  }
  const float ratio = 1 / (1 + squares / kReach);
  return ratio > 0 ? ratio * ratio : 0;  // a place may be no number
}

}  // namespace

Searcher::Searcher(std::vector<ConfigPoint> points)
    : points_(std::move(points)), is_out_(points_.size()),
      errors_(points_.size()), weights_(points_.size()) {
  std::optional<float> worst;
  for (const ConfigPoint& point : points_) {
    if (is_time(point.predicted_ms)) {
      worst = std::max(worst.value_or(-std::numeric_limits<float>::infinity()),
                       std::log(point.predicted_ms));
    }
  }
  if (worst) {
    worst_log_ = std::nextafter(*worst, std::numeric_limits<float>::infinity());
  }
  for (const ConfigPoint& point : points_) {
    log_predicted_.push_back(static_cast<float>(log_of(point.predicted_ms)));
  }
}

double Searcher::log_of(double predicted_ms) const {
  return is_time(predicted_ms) ? std::log(predicted_ms) : worst_log_;
}

// A model made for another device is off by a factor that all have in common.
double Searcher::common_error() const {
  if (seen_errors_.empty()) {
    return 0;
  }
  std::vector<double> errors = seen_errors_;
  const auto usual =
      errors.begin() + static_cast<std::ptrdiff_t>(
                           kUsual * static_cast<double>(errors.size() - 1));
  std::nth_element(errors.begin(), usual, errors.end());
  return *usual;
}

std::optional<Searcher::Trial> Searcher::next(const Stakes& stakes) const {
  const auto common = static_cast<float>(common_error());
  const bool knows_best = is_time(stakes.best_ms);
  const float best_log =
      knows_best ? static_cast<float>(std::log(stakes.best_ms)) : 0;
  const auto trial_ms = static_cast<float>(stakes.trial_ms);
  std::optional<std::size_t> most;
  float most_worth = -std::numeric_limits<float>::infinity();
  float most_log = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (is_out_[i]) {
      continue;
    }
    const float weight = weights_[i] + kPrior;
    const float expected_log =
        log_predicted_[i] + (errors_[i] + kPrior * common) / weight;
    const float doubt = kDoubt * std::sqrt(kPrior / weight);
    const float worth = knows_best
                            ? expected_worth(best_log - expected_log, doubt,
                                             trial_ms + points_[i].load_ms)
                            : doubt - expected_log;
    if (!most || worth > most_worth) {
      most = i;
      most_worth = worth;
      most_log = expected_log - doubt;
    }
  }
  if (!most) {
    return std::nullopt;
  }
  return Trial{.index = *most,
               .hoped_ms = std::exp(double{most_log}),
               .worth = most_worth};
}

// Of a normal distribution, how much is above 0 in the mean: for z standard
// deviations, sd * (z * Phi(z) + phi(z)).
float Searcher::expected_worth(float log_gain, float doubt, float trial_ms) {
  constexpr float kHalfLogTwoPi = 0.918938533F;
  constexpr float kFar = -4;  // from here on by the tail's first term
  const float z = log_gain / doubt;
  const float log_density = -0.5F * z * z - kHalfLogTwoPi;
  const float log_mean =
      z < kFar ? log_density - 2 * std::log(-z)
               : std::log(z * 0.5F *
                              std::erfc(-z * std::numbers::sqrt2_v<float> / 2) +
                          std::exp(log_density));
  return log_mean + std::log(doubt / trial_ms);
}

void Searcher::set_loaded(std::size_t index) {
  const std::uint64_t code = points_[index].code;
  points_[index].load_ms = 0;
  for (ConfigPoint& point : points_) {
    if (code != 0 && point.code == code) {
      point.load_ms = 0;
    }
  }
}

void Searcher::learn(const ConfigPoint& where, double milliseconds) {
  if (is_time(milliseconds)) {
    const double error = std::log(milliseconds) - log_of(where.predicted_ms);
    seen_errors_.push_back(error);
    believe(where, std::min(error, expected_error(where) + kMostSurprise));
  }
}

void Searcher::learn_useless(const ConfigPoint& where) {
  believe(where, expected_error(where) + kMostSurprise);
}

double Searcher::expected_error(const ConfigPoint& where) const {
  double weights = kPrior;
  double errors = kPrior * common_error();
  for (const Belief& belief : beliefs_) {
    const double weight = nearness(belief.where, where);
    weights += weight;
    errors += weight * belief.error;
  }
  return errors / weights;
}

void Searcher::believe(const ConfigPoint& where, double error) {
  const auto believed = static_cast<float>(error);
  beliefs_.push_back({where, believed});
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const float weight = nearness(points_[i], where);
    weights_[i] += weight;
    errors_[i] += weight * believed;
  }
}

}  // namespace tunedops
