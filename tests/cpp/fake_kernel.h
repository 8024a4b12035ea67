#pragma once

// A kernel that computes the right answer and takes exactly the time that it is
// told to, or misbehaves in one of the ways that real kernels do. It counts its
// runs, so that a test can tell which solution a program really used.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <string>
#include <vector>

#include "fake_ops.h"
#include "fakes.h"
#include "tuning/kernel_registry.h"

namespace tunedops {

enum class Fault {
  kNone,
  kUnsupported,   // says so when asked
  kDeclines,      // says it can, then prepares no plan
  kFails,         // every run reports a failure
  kFailsLater,    // only runs after the tenth do
  kSticky,        // a run poisons the device
  kWrong,         // every element is off
  kWrongCorner,   // the last element is off
  kNan,           // the first element is NaN
  kWritesBehind,  // one element too many, correct otherwise
  kWritesBefore,
  kWritesGaps,  // between the columns
  kUnwritten,   // reports success and does nothing
};

struct Behaviour {
  std::string name;
  double ms = 1.0;  // of a run
  Fault fault = Fault::kNone;
  std::string reason = "out of order";  // of whatever is refused
  std::vector<Config> configs{Config{}};
  /// Of a run with a config, instead of `ms`.
  std::function<double(const Config&)> ms_of = nullptr;
  std::optional<Config> heuristic = std::nullopt;
  int launches = 1;
  std::size_t workspace = 0;
  /// What a search may try; empty: the kernel has no space.
  std::vector<Config> space = {};
  /// Where a config lies and what it should take. Its id is set for it.
  std::function<std::optional<ConfigPoint>(const Config&)> point_of = nullptr;
  std::size_t space_workspace = 0;  // of plans that are not proposed
  double space_ms = 0;              // until its points are known
  double load_ms = 0;               // that the first run of a config is longer
  /// Of a config, instead of `fault`.
  std::function<Fault(const Config&)> fault_of = nullptr;
  /// What else happens in the nth run of a config; it may throw.
  std::function<void(int run)> on_run = nullptr;
};

class FakeKernel final : public Kernel {
 public:
  FakeKernel(FakeDevice& device, const FakeOp& op, Behaviour behaviour,
             DeviceType type = DeviceType::kCpu)
      : device_(device), op_(op), behaviour_(std::move(behaviour)),
        type_(type) {}

  std::string_view name() const override { return behaviour_.name; }
  DeviceType device_type() const override { return type_; }

  Status supports(const ProblemKey&) const override {
    return behaviour_.fault == Fault::kUnsupported
               ? Status::unsupported(behaviour_.reason)
               : Status::ok();
  }

  std::vector<Config> configs(const ProblemKey&) const override {
    return behaviour_.configs;
  }

  std::optional<Config> heuristic(const ProblemKey&) const override {
    return behaviour_.heuristic;
  }

  std::unique_ptr<ConfigSpace> space(const ProblemKey&) const override;

  Status check(const ProblemKey& problem, const Config& config) const override {
    return is_in(behaviour_.space, config) ? Status::ok()
                                           : Kernel::check(problem, config);
  }

  std::unique_ptr<Plan> prepare(const ProblemKey& problem,
                                const Config& config) const override;

  /// Configs that were run.
  std::size_t tried() const {
    const std::lock_guard lock(mutex_);
    return runs_.size();
  }

  /// Runs so far, of all configs or of one.
  int runs() const {
    const std::lock_guard lock(mutex_);
    int sum = 0;
    for (const auto& [config, count] : runs_) {
      sum += count;
    }
    return sum;
  }

  int runs(const Config& config) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(config.to_text());
    return found == runs_.end() ? 0 : found->second;
  }

  /// As if a config had never been run.
  void forget(const Config& config) {
    const std::lock_guard lock(mutex_);
    runs_.erase(config.to_text());
  }

 private:
  friend class FakePlan;
  friend class FakeSpace;

  static bool is_in(const std::vector<Config>& configs, const Config& config) {
    return std::find(configs.begin(), configs.end(), config) != configs.end();
  }

  Fault fault_of(const Config& config) const {
    return behaviour_.fault_of ? behaviour_.fault_of(config) : behaviour_.fault;
  }

  FakeDevice& device_;
  const FakeOp& op_;
  Behaviour behaviour_;
  DeviceType type_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, int> runs_;  // by the text of the config
};

class FakeSpace final : public ConfigSpace {
 public:
  explicit FakeSpace(const FakeKernel& kernel) : kernel_(kernel) {}

  std::vector<ConfigPoint> points(std::size_t most) override {
    const std::vector<Config>& configs = kernel_.behaviour_.space;
    kernel_.device_.clock.advance(kernel_.behaviour_.space_ms);
    std::vector<ConfigPoint> points;
    for (std::size_t id = 0; id < configs.size(); ++id) {
      points.push_back(locate(configs[id]).value_or(ConfigPoint{}));
      points.back().id = static_cast<std::uint32_t>(id);
      if (kernel_.runs(configs[id]) == 0) {
        points.back().load_ms = static_cast<float>(kernel_.behaviour_.load_ms);
      }
    }
    const auto key = [](const ConfigPoint& point) {
      return std::isnan(point.predicted_ms)
                 ? std::numeric_limits<float>::infinity()
                 : point.predicted_ms;
    };
    std::stable_sort(points.begin(), points.end(),
                     [&](const ConfigPoint& left, const ConfigPoint& right) {
                       return key(left) < key(right);
                     });
    points.resize(std::min(most, points.size()));
    return points;
  }

  Config config(const ConfigPoint& point) const override {
    return kernel_.behaviour_.space.at(point.id);
  }

  std::optional<ConfigPoint> locate(const Config& config) const override {
    return kernel_.behaviour_.point_of ? kernel_.behaviour_.point_of(config)
                                       : std::nullopt;
  }

  std::size_t workspace_bytes() const override {
    return kernel_.behaviour_.space_workspace;
  }

 private:
  const FakeKernel& kernel_;
};

class FakePlan final : public Plan {
 public:
  FakePlan(const FakeKernel& kernel, const ProblemKey& problem, Config config)
      : kernel_(kernel), problem_(problem), config_(std::move(config)),
        fault_(kernel.fault_of(config_)), number_(++kernel.device_.plans) {}

  const ProblemKey& problem() const { return problem_; }

  std::string solution() const { return Solution{&kernel_, config_}.to_text(); }

  Status run(const Arguments& arguments, Stream stream) const override {
    const Behaviour& behaviour = kernel_.behaviour_;
    int run = 0;
    {
      const std::lock_guard lock(kernel_.mutex_);
      run = ++kernel_.runs_[config_.to_text()];
    }
    kernel_.device_.last_stream = stream.handle;
    last_plan = number_;
    FakeDevice& device = kernel_.device_;
    const double now_ms = device.clock.now_ms();
    const double warmth = 1 + device.warming * now_ms / 1000 +
                          device.swing * std::sin(2 * std::numbers::pi *
                                                  now_ms / device.swing_ms);
    device.clock.advance(
        warmth * (behaviour.ms_of ? behaviour.ms_of(config_) : behaviour.ms) +
        (run == 1 ? behaviour.load_ms : 0));
    if (behaviour.on_run) {
      behaviour.on_run(run);
    }
    if (fault_ == Fault::kFails || (fault_ == Fault::kFailsLater && run > 10)) {
      return Status::failed(behaviour.reason);
    }
    if (workspace_bytes() > 0 && arguments.workspace == nullptr) {
      return Status::failed("there is no workspace");
    }
    if (fault_ == Fault::kSticky) {
      return Status::sticky(behaviour.reason);
    }
    if (fault_ != Fault::kUnwritten) {
      kernel_.op_.compute(problem_, arguments);
    }
    misbehave(arguments);
    return Status::ok();
  }

  std::size_t workspace_bytes() const override {
    const Behaviour& behaviour = kernel_.behaviour_;
    return FakeKernel::is_in(behaviour.configs, config_)
               ? behaviour.workspace
               : behaviour.space_workspace;
  }

  int launches() const override { return kernel_.behaviour_.launches; }

 private:
  void misbehave(const Arguments& arguments) const {
    const auto operands = kernel_.op_.definition.operands(problem_);
    std::size_t which = 0;
    while (!operands[which].is_output()) {
      ++which;
    }
    const Operand& output = operands[which];
    auto* values = static_cast<float*>(arguments.operands[which]);
    const std::int64_t last = output.extent() - 1;
    switch (fault_) {
    case Fault::kWrong:
      for (std::int64_t i = 0; i < output.inner; ++i) {
        values[i] += 1;
      }
      break;
    case Fault::kWrongCorner:
      values[last] += 1;
      break;
    case Fault::kNan:
      values[0] = std::numeric_limits<float>::quiet_NaN();
      break;
    case Fault::kWritesBehind:
      values[last + 1] = 0;
      break;
    case Fault::kWritesBefore:
      values[-1] = 0;
      break;
    case Fault::kWritesGaps:
      values[output.inner] = 0;
      break;
    default:
      break;
    }
  }

  const FakeKernel& kernel_;
  ProblemKey problem_;
  Config config_;
  Fault fault_;
  int number_;
};

inline std::unique_ptr<ConfigSpace> FakeKernel::space(const ProblemKey&) const {
  return behaviour_.space.empty() ? nullptr
                                  : std::make_unique<FakeSpace>(*this);
}

inline std::unique_ptr<Plan> FakeKernel::prepare(const ProblemKey& problem,
                                                 const Config& config) const {
  if (fault_of(config) == Fault::kDeclines) {
    return nullptr;
  }
  return std::make_unique<FakePlan>(*this, problem, config);
}

/// The solution of a plan that a context chose; null is Default.
inline std::string solution_of(const Plan* plan) {
  return plan == nullptr ? std::string(kDefaultKernel)
                         : static_cast<const FakePlan*>(plan)->solution();
}

}  // namespace tunedops
