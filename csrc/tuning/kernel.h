#pragma once

// A registered implementation of an op. A kernel answers for itself: which
// problems it supports (or why not), which configs it offers for one, which it
// would take unmeasured, and it prepares plans. The tuner and the tests run
// over whatever is registered; nothing else knows the list.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/config.h"
#include "tuning/config_space.h"
#include "tuning/plan.h"
#include "tuning/problem_key.h"
#include "tuning/status.h"
#include "tuning/validators.h"

namespace tunedops {

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// Stable: it lives in results files. Letters, digits and `_`, such as
  /// `Gemm_CpuSkinny`.
  virtual std::string_view name() const = 0;
  virtual DeviceType device_type() const = 0;

  /// Ok, or unsupported with a reason that a user understands.
  virtual Status supports(const ProblemKey& problem) const = 0;

  /// The configs worth measuring for a supported problem, best guess first.
  virtual std::vector<Config> configs(const ProblemKey& problem) const {
    (void)problem;
    return {Config{}};
  }

  /// More configs than those, for a search; null if there are none. `check`
  /// has to accept them.
  virtual std::unique_ptr<ConfigSpace> space(const ProblemKey& problem) const {
    (void)problem;
    return nullptr;
  }

  /// The config to take without measuring, if this kernel is confident of
  /// beating Default on the problem; used by `ON_MISS=heuristic`.
  virtual std::optional<Config> heuristic(const ProblemKey& problem) const {
    (void)problem;
    return std::nullopt;
  }

  /// Whether a config (it may come from a hand-edited file) is one that this
  /// kernel may run for the problem. The default accepts what it offers.
  virtual Status check(const ProblemKey& problem, const Config& config) const {
    const std::vector<Config> offered = configs(problem);
    return accept_if(std::find(offered.begin(), offered.end(), config) !=
                     offered.end());
  }

  /// What results of this kernel are true of, in an environment: a result that
  /// ships with the package counts for as long as this stays the same. The
  /// default is for kernels of our own; empty: always.
  virtual std::string revision(const Validators& environment) const {
    return "TUNEDOPS_KERNELS " + environment.value("TUNEDOPS_KERNELS");
  }

  /// `problem` is supported and `config` accepted. May return null if a
  /// library declines after all.
  virtual std::unique_ptr<Plan> prepare(const ProblemKey& problem,
                                        const Config& config) const = 0;

 protected:
  /// What `check` returns.
  static Status accept_if(bool is_config) {
    return is_config ? Status::ok()
                     : Status::unsupported("is not a config of this kernel");
  }
};

/// The name of torch's own implementation, the yardstick of every choice.
inline constexpr std::string_view kDefaultKernel = "Default";

}  // namespace tunedops
