#pragma once

// Finds the fastest correct solution of one problem.
//
// Search: what the kernels propose is looked at first; then, among all other
// configs that they have, those that promise most, for a share of the budget.
// Screening: fewer and fewer are timed more and more, until a few are
// left (successive halving) or a limit is reached. Final: those few and Default
// are timed in rounds, each round in a fresh random order, and a challenger
// wins only with a bound on the median of its paired ratios to Default. Before
// a challenger enters the final its output is checked. A wall-clock budget
// covers all of it.

#include <memory>
#include <string>
#include <vector>

#include "tuning/backend.h"
#include "tuning/kernel_registry.h"
#include "tuning/op_definition.h"
#include "tuning/settings.h"
#include "tuning/timing.h"

namespace tunedops {

struct TunerLimits {
  double duration_ms = 30;        // of screening for a solution
  int iterations = 100;           // of screening, and rounds of the final
  double warmup_duration_ms = 0;  // before a solution is timed
  int warmup_iterations = 1;
  double budget_ms = 400;            // for the problem, everything included
  std::int64_t rotating_bytes = -1;  // -1: the device's cache
  double most_waited = 0.1;  // for processors, or a result is marked as busy
  bool in_graphs = false;    // time in graphs, where there are any
  Search search = Search::kGuided;
  NumericalCheck numerical_check;
};

/// A solution that may compete; Default comes first.
struct Candidate {
  std::string solution;
  std::unique_ptr<Plan> plan;
  const Kernel* kernel = nullptr;
  Config config;
};

/// Where more candidates come from.
struct KernelSpace {
  const Kernel* kernel = nullptr;
  std::unique_ptr<ConfigSpace> space;
};

struct Measurement {
  std::string solution;
  double time_ms = 0;   // the last estimate
  int samples = 0;      // of the final, 0 if it was dropped before
  std::string refused;  // why it left the race, empty if it did not
};

struct TuneOutcome {
  /// Not ok: nothing was decided and nothing may be stored.
  Status status = Status::ok();
  std::string solution;
  double time_ms = 0;
  double default_ms = 0;
  double elapsed_ms = 0;  // wall clock of the whole
  int searched = 0;       // configs that were tried beyond the proposals
  Timing timing;          // how it was found, if it was measured
  // Default's readings are so far apart that something else used the machine.
  bool disturbed = false;
  std::vector<Measurement> measurements;

  /// Not so if nothing was decided, or if there was nothing to choose among.
  bool was_measured() const { return status.is_ok() && !measurements.empty(); }
};

class Tuner {
 public:
  Tuner(const Backend& backend, TunerLimits limits)
      : backend_(backend), limits_(std::move(limits)) {}

  /// `candidates[0]` is Default.
  TuneOutcome tune(const OpDefinition& op, const ProblemKey& problem,
                   std::vector<Candidate> candidates, Stream stream,
                   std::vector<KernelSpace> spaces = {}) const;

 private:
  const Backend& backend_;
  TunerLimits limits_;
};

}  // namespace tunedops
