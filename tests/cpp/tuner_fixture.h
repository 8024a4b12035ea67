#pragma once

// Races fake kernels without a context: what the tuner decides on a clock that
// only they move.

#include <memory>
#include <vector>

#include "fake_kernel.h"
#include "tuning/tuner.h"

namespace tunedops {

class TunerTest : public testing::Test {
 protected:
  FakeKernel& add(Behaviour behaviour) {
    kernels_.push_back(
        std::make_unique<FakeKernel>(device_, *op_, std::move(behaviour)));
    return *kernels_.back();
  }

  void clear() { kernels_.clear(); }

  /// All configs of all kernels, in order, and their spaces; the first kernel
  /// is Default.
  TuneOutcome race() {
    std::vector<Candidate> candidates;
    std::vector<KernelSpace> spaces;
    for (const auto& kernel : kernels_) {
      if (auto space = kernel->space(problem_)) {
        spaces.push_back({kernel.get(), std::move(space)});
      }
      for (const Config& config : kernel->configs(problem_)) {
        candidates.push_back(
            {.solution = Solution{kernel.get(), config}.to_text(),
             .plan = kernel->prepare(problem_, config),
             .kernel = kernel.get(),
             .config = config});
      }
    }
    return Tuner(backend_, limits_)
        .tune(op_->definition, problem_, std::move(candidates), stream_,
              std::move(spaces));
  }

  /// Why a solution left the race; empty if it did not.
  static std::string refused(const TuneOutcome& outcome,
                             const std::string& solution) {
    for (const Measurement& m : outcome.measurements) {
      if (m.solution == solution) {
        return m.refused;
      }
    }
    return "was not in the race";
  }

  static int samples(const TuneOutcome& outcome, const std::string& solution) {
    for (const Measurement& m : outcome.measurements) {
      if (m.solution == solution) {
        return m.samples;
      }
    }
    return -1;
  }

  FakeDevice device_;
  FakeBackend backend_{device_};
  TunerLimits limits_;
  Stream stream_;
  const FakeOp* op_ = &gemm_op();
  ProblemKey problem_ = to_key(gemm_problem(6, 5, 4));

 private:
  std::vector<std::unique_ptr<FakeKernel>> kernels_;
};

}  // namespace tunedops
