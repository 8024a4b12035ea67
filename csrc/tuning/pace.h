#pragma once

// Keeps tuning inside products from stalling a program: one whose shapes keep
// changing (a growing sequence) would otherwise tune for ever. Explicit tuning
// does not ask.

#include <cstdint>
#include <map>
#include <vector>

#include "tuning/problem_key.h"

namespace tunedops {

class Pace {
 public:
  /// Whether a problem may still be tuned inside a product.
  bool allows(const std::vector<ProblemKey>& families, double total_budget_ms,
              std::int64_t max_variants) const {
    if (spent_ms_ >= total_budget_ms) {
      return false;
    }
    for (const ProblemKey& family : families) {
      const auto found = variants_.find(family.words);
      if (found != variants_.end() && found->second >= max_variants) {
        return false;
      }
    }
    return max_variants > 0;
  }

  void spend(const std::vector<ProblemKey>& families, double milliseconds) {
    spent_ms_ += milliseconds;
    for (const ProblemKey& family : families) {
      ++variants_[family.words];
    }
  }

 private:
  double spent_ms_ = 0;
  std::map<decltype(ProblemKey::words), std::int64_t> variants_;
};

}  // namespace tunedops
