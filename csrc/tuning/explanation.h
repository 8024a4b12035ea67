#pragma once

// Why a product takes what it takes: what each place where results may be says
// of its problem, who decides, and which kernels could run it. For people, and
// made by asking only (context_explain.cpp).

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tunedops {

/// What one tier has to say of a problem.
struct TierAnswer {
  std::string tier = {};   // `overlay`, `results file`, …
  std::string place = {};  // a file and its line; or what there is in its stead
  std::string solution = {};  // or empty: it has none
  std::string refused = {};   // why it is not used; or empty
  std::optional<double> time_ms = std::nullopt;
  std::optional<double> default_ms = std::nullopt;
};

/// What a product would do, and why.
struct Explanation {
  std::vector<TierAnswer> tiers;  // in the order in which they are asked
  std::string decided_by;         // one of them, `a miss`, or `nobody`
  std::string solution;  // that runs; or empty: the note says what does
  std::string note;      // what there is to say of a miss
  // Per kernel why it refuses the problem, or empty.
  std::vector<std::pair<std::string, std::string>> kernels;
};

}  // namespace tunedops
