#pragma once

// Which config to measure next? The kernel's model says what each should take;
// measurements say where the model errs, and neighbours are believed to err
// alike. So a prediction is corrected by the errors seen around it, and where
// few were seen it gets the benefit of the doubt: the point whose time may be
// the lowest goes next. That follows a good model, and does without one.

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "tuning/config_space.h"

namespace tunedops {

class Searcher {
 public:
  explicit Searcher(std::vector<ConfigPoint> points);

  struct Proposal {
    std::size_t index = 0;
    double hoped_ms = 0;  // it may be as fast as that
  };

  /// The most promising point that is not ruled out. `doubt` is how far, as a
  /// share, a prediction may be off where nothing was measured nearby.
  std::optional<Proposal> next(double doubt = kDoubt) const;

  const ConfigPoint& point(std::size_t index) const { return points_[index]; }
  std::size_t size() const { return points_.size(); }

  /// What a config of the kernel took, be it one of the points or not.
  void learn(const ConfigPoint& where, double milliseconds);

  /// It is not proposed again.
  void rule_out(std::size_t index) { is_out_[index] = true; }
  void rule_out(const ConfigPoint& where);

  static constexpr double kDoubt = 0.08;

 private:
  double mean_error() const;

  std::vector<ConfigPoint> points_;
  std::vector<bool> is_out_;
  std::vector<float> log_predicted_;
  // Of the logarithms' errors: their sum, weighted by nearness, and the weight.
  std::vector<float> errors_;
  std::vector<float> weights_;
  std::vector<double> seen_errors_;
};

}  // namespace tunedops
