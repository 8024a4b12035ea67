#pragma once

// All plans that were ever prepared. They live as long as the context, because
// any thread's cache may point to them; a problem's plan is a few hundred
// bytes, and reading a file again finds the same one.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuning/kernel_registry.h"
#include "tuning/plan.h"
#include "tuning/problem_key.h"

namespace tunedops {

class PlanStore {
 public:
  /// The plan of a solution for a problem, or why there is none. The solution
  /// is not Default. Not thread-safe: the context's lock guards it.
  Status plan(const ProblemKey& problem, const Solution& solution,
              const Plan** result) {
    return status_of(
        [&] { return find_or_prepare(problem, solution, result); });
  }

  /// The solution of a plan that is from here.
  std::string solution_of(const Plan& plan) const {
    for (const auto& [key, held] : plans_) {
      if (held.get() == &plan) {
        return key.second;
      }
    }
    return {};
  }

 private:
  Status find_or_prepare(const ProblemKey& problem, const Solution& solution,
                         const Plan** result) {
    auto& slot = plans_[{problem.words, solution.to_text()}];
    if (slot == nullptr) {
      if (Status s = solution.kernel->supports(problem); !s.is_ok()) {
        return s;
      }
      // A kernel named without its parameters, by hand, is left to guess them.
      Config config = solution.config;
      if (config.empty()) {
        const std::vector<Config> offered = solution.kernel->configs(problem);
        if (offered.empty()) {
          return Status::unsupported("has no config for this problem");
        }
        config = offered.front();
      }
      if (Status s = solution.kernel->check(problem, config); !s.is_ok()) {
        return refused_config(*solution.kernel, problem, s);
      }
      slot = solution.kernel->prepare(problem, config);
      if (slot == nullptr) {
        return Status::unsupported("the library declines it");
      }
    }
    *result = slot.get();
    return Status::ok();
  }

  using Key = std::pair<decltype(ProblemKey::words), std::string>;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

}  // namespace tunedops
