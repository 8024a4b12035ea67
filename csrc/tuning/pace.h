#pragma once

// Keeps tuning inside products from stalling a program: one whose shapes keep
// changing (a growing sequence) would otherwise tune for ever. Explicit tuning
// does not ask.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tuning/problem_key.h"

namespace tunedops {

class Pace {
 public:
  /// What is left of the time for tuning inside products; not above 0: nothing.
  double left_ms(double total_budget_ms) const {
    return total_budget_ms - spent_ms_;
  }

  /// Whether another problem of these families may be tuned.
  bool allows(const std::vector<ProblemKey>& families,
              std::int64_t max_variants) const {
    for (const ProblemKey& family : families) {
      const auto found = variants_.find(family);
      if (found != variants_.end() && found->second >= max_variants) {
        return false;
      }
    }
    return max_variants > 0;
  }

  void spend(const std::vector<ProblemKey>& families, double milliseconds) {
    spent_ms_ += milliseconds;
    for (const ProblemKey& family : families) {
      ++variants_[family];
    }
  }

 private:
  double spent_ms_ = 0;
  std::unordered_map<ProblemKey, std::int64_t, ProblemKeyHash> variants_;
};

}  // namespace tunedops
