#pragma once

// One run of the tuner: the candidates of one problem on one set of buffers,
// under one deadline. race.cpp holds what all stages share, screening.cpp the
// stage that leaves a few, final.cpp the one that decides among them.

#include <optional>
#include <vector>

#include "tuning/numeric_check.h"
#include "tuning/tuner.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {

/// A candidate and what is known of it so far.
struct Racer {
  Candidate* candidate = nullptr;
  std::vector<Launch> rotation;  // one launch per copy of the operands
  Measurement measurement;
  int screened_calls = 0;
  double screened_ms = 0;
  bool is_slow = false;          // that is the only reason why it is out
  bool is_right = false;         // its output was checked
  std::vector<double> final_ms;  // one a round

  bool is_out() const { return !measurement.refused.empty(); }
  void drop(const std::string& reason) {
    is_slow = false;
    measurement.refused = reason;
  }
  void drop_as_slow() {
    drop("slower than others");
    is_slow = true;
  }
  void take_back() { drop(""); }
};

class Race {
 public:
  Race(const Backend& backend, const TunerLimits& limits,
       const OpDefinition& op, const ProblemKey& problem,
       std::vector<Candidate>& candidates, Stream stream);

  TuneOutcome run();

 private:
  // Shared.
  Status race(TuneOutcome& outcome);
  Racer& baseline() { return racers_.front(); }
  bool is_baseline(const Racer& racer) { return &racer == &baseline(); }
  bool out_of_time() { return stopwatch_->now_ms() >= deadline_ms_; }
  std::vector<Racer*> challengers_by_time(bool with_slow);
  Status enter(Racer& racer);
  Status warm_up(Racer& racer);
  Status measure(Racer& racer, int calls, double& milliseconds);
  Status check_output(Racer& racer);
  Status compare_output(Racer& racer);
  Status run_checked(Racer& racer);

  // Screening.
  Status screen();
  Status screen_round(int calls, bool is_first);
  Status screen_once(Racer& racer, int calls);
  Status drop_slow();
  Status best_of(double& milliseconds);

  // Final.
  Status choose_finalists(std::vector<Racer*>& finalists);
  int calls_per_reading(const Racer& racer) const;
  Status run_final(const std::vector<Racer*>& finalists);
  Status time_round(const std::vector<Racer*>& order, double& spent_ms);
  void decide(const std::vector<Racer*>& finalists, TuneOutcome& outcome);

  const TunerLimits& limits_;
  const OpDefinition& op_;
  const ProblemKey& problem_;
  Stream stream_;
  std::unique_ptr<Stopwatch> stopwatch_;
  double deadline_ms_;
  TuningBuffers buffers_;
  std::vector<Racer> racers_;  // Default first
  std::optional<NumericCheck> check_;
  bool has_baseline_output_ = false;
  std::size_t next_copy_ = 0;
};

}  // namespace tunedops
