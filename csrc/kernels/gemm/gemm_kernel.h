#pragma once

// A Kernel for matrix products: casts the erased problem once, so that
// implementations read fields by name. They override the `do_` methods.

#include "kernels/gemm/gemm_problem.h"
#include "tuning/kernel.h"

namespace tunedops {

class GemmKernel : public Kernel {
 public:
  Status supports(const ProblemKey& key) const final {
    return do_supports(from_key<GemmProblem>(key));
  }
  std::vector<Config> configs(const ProblemKey& key) const final {
    return do_configs(from_key<GemmProblem>(key));
  }
  std::unique_ptr<ConfigSpace> space(const ProblemKey& key) const final {
    return do_space(from_key<GemmProblem>(key));
  }
  std::optional<Config> heuristic(const ProblemKey& key) const final {
    return do_heuristic(from_key<GemmProblem>(key));
  }
  std::unique_ptr<Plan> prepare(const ProblemKey& key,
                                const Config& config) const final {
    return do_prepare(from_key<GemmProblem>(key), config);
  }

 protected:
  /// The first config, for a `do_heuristic` that trusts the kernel.
  std::optional<Config> first_config(const GemmProblem& problem) const {
    const std::vector<Config> configs = do_configs(problem);
    return configs.empty() ? std::nullopt : std::make_optional(configs.front());
  }

  virtual Status do_supports(const GemmProblem& problem) const = 0;
  virtual std::vector<Config> do_configs(const GemmProblem& problem) const {
    (void)problem;
    return {Config{}};
  }
  virtual std::unique_ptr<ConfigSpace>
  do_space(const GemmProblem& problem) const {
    (void)problem;
    return nullptr;
  }
  virtual std::optional<Config> do_heuristic(const GemmProblem& problem) const {
    (void)problem;
    return std::nullopt;
  }
  virtual std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                           const Config& config) const = 0;
};

}  // namespace tunedops
