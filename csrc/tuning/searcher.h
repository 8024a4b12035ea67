#pragma once

// Which config to measure next? The kernel's model says what each should take;
// measurements say where the model errs, and neighbours are believed to err
// alike. So a prediction is corrected by the errors seen around it, and the
// fewer were seen the more it is doubted. The point goes next from which the
// largest gain is expected for the time that trying it takes. That follows a
// good model, and does without one.

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "tuning/config_space.h"

namespace tunedops {

class Searcher {
 public:
  /// A prediction that cannot be a time counts as worse than all others.
  explicit Searcher(std::vector<ConfigPoint> points);

  struct Trial {
    std::size_t index = 0;
    double hoped_ms = 0;  // it may be as fast as that
    double worth = 0;     // see expected_worth
  };

  /// What a trial is weighed by.
  struct Stakes {
    double best_ms = std::numeric_limits<double>::infinity();  // so far
    double trial_ms = 1;  // of a point whose code is loaded
  };

  /// The point that is worth most of those that are not ruled out: while no
  /// time is known, the one that may be the fastest.
  std::optional<Trial> next(const Stakes& stakes) const;
  std::optional<Trial> next() const { return next(Stakes()); }

  const ConfigPoint& point(std::size_t index) const { return points_[index]; }
  std::size_t size() const { return points_.size(); }

  /// What a config of the kernel took, be it one of the points or not. What
  /// cannot be a time teaches nothing.
  void learn(const ConfigPoint& where, double milliseconds);

  /// One that fails or is wrong, however fast: as bad as a slow one.
  void learn_useless(const ConfigPoint& where);

  /// Else predictions were never compared with the clock.
  bool has_learnt() const { return !seen_errors_.empty(); }

  /// It is not proposed again.
  void rule_out(std::size_t index) { is_out_[index] = true; }

  /// Trying points with the same code takes no longer than others from now on.
  void set_loaded(std::size_t index);

  /// How far, as a logarithm, a prediction may be off where nothing was
  /// measured nearby.
  static constexpr float kDoubt = 0.06F;

  /// What trying something is worth that takes `log_gain` less than the best so
  /// far, which is doubted: the logarithm of the gain, as a share of the time,
  /// that is expected for each millisecond of the trial.
  static float expected_worth(float log_gain, float doubt, float trial_ms);

 private:
  /// By how much a prediction is believed to be off, as a logarithm.
  struct Belief {
    ConfigPoint where;
    float error = 0;
  };

  double log_of(double predicted_ms) const;
  double common_error() const;
  double expected_error(const ConfigPoint& where) const;
  void believe(const ConfigPoint& where, double error);

  std::vector<ConfigPoint> points_;
  std::vector<bool> is_out_;
  float worst_log_ = 0;  // of what is no prediction
  std::vector<float> log_predicted_;
  std::vector<double> seen_errors_;
  std::vector<Belief> beliefs_;
  // Of each point: the beliefs' sum, weighted by nearness, and the weight.
  std::vector<float> errors_;
  std::vector<float> weights_;
};

}  // namespace tunedops
