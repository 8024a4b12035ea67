#pragma once

// One run of the tuner: the candidates of one problem on one set of buffers,
// under one deadline. race.cpp holds what all stages share, search.cpp the one
// that finds more candidates, screening.cpp the one that leaves a few,
// final.cpp the one that decides among them.

#include <deque>
#include <optional>
#include <vector>

#include "tuning/numeric_check.h"
#include "tuning/tuner.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {

/// Of the budget: whoever takes longer is looked at once only.
inline constexpr double kLongCall = 0.05;

/// A candidate and what is known of it so far.
struct Racer {
  Candidate candidate;
  std::size_t place = 0;         // in the order in which they came
  std::vector<Launch> rotation;  // one launch per copy of the operands
  Measurement measurement;
  std::vector<double> readings;  // of screening, if it is not Default
  bool has_glance_only = true;
  double long_run_ms = 0;  // the first run, if it is a reading too
  int screened_calls = 0;
  double screened_ms = 0;
  bool is_slow = false;          // that is the only reason why it is out
  bool is_late = false;          // it was not timed
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
  void drop_as_late() {
    drop("no time left to try it");
    is_late = true;
  }
  void take_back() { drop(""); }
};

class Race {
 public:
  Race(const Backend& backend, const TunerLimits& limits,
       const OpDefinition& op, const ProblemKey& problem,
       std::vector<Candidate> candidates, std::vector<KernelSpace> spaces,
       Stream stream);

  TuneOutcome run();

 private:
  // Shared.
  Status race(TuneOutcome& outcome);
  Racer& baseline() { return racers_.front(); }
  bool is_baseline(const Racer& racer) { return &racer == &baseline(); }
  bool out_of_time() { return stopwatch_->now_ms() >= stage_deadline_ms_; }
  void begin_stage(double share);
  std::vector<Racer*> challengers_by_time(bool with_slow);
  Status enter(Racer& racer);
  Status first_reading(Racer& racer);
  Status glance(Racer& racer);
  Status look_at_default(int calls);
  void add_reading(Racer& racer, int calls, double milliseconds);
  void set_level(double default_ms);
  Status warm_up(Racer& racer);
  Status measure(Racer& racer, int calls, double& milliseconds);
  Status check_output(Racer& racer);
  Status compare_output(Racer& racer);
  Status run_checked(Racer& racer);

  // Search.
  struct SearchedSpace;
  std::vector<SearchedSpace> make_searchers();
  Status search();
  void allow_for(double milliseconds);
  Status search_guided();
  Status search_all();
  static SearchedSpace* most_promising(std::vector<SearchedSpace>& searched,
                                       double best, std::size_t& index);
  std::unique_ptr<Plan> prepare_new(const Kernel& kernel,
                                    const Config& config) const;
  Status try_config(const Kernel& kernel, const Config& config,
                    std::unique_ptr<Plan> plan, double& best,
                    double& milliseconds);

  // Screening.
  Status screen();
  bool was_any_tried() const;
  Status look_at_all();
  Status look_again();
  Status screen_round(int calls);
  Status screen_once(Racer& racer, int calls);
  Status drop_slow(std::size_t kept);
  Status best_of(double& milliseconds);

  // Settling.
  bool is_hard_work() const;
  void plan_settling();
  Status settle();

  // Final.
  Status choose_finalists(std::vector<Racer*>& finalists);
  int calls_per_reading(const Racer& racer) const;
  Status run_final(const std::vector<Racer*>& finalists);
  Status time_round(const std::vector<Racer*>& order, double& spent_ms);
  Status decide(const std::vector<Racer*>& finalists, TuneOutcome& outcome);

  const TunerLimits& limits_;
  const OpDefinition& op_;
  const ProblemKey& problem_;
  Stream stream_;
  std::vector<KernelSpace> spaces_;
  std::unique_ptr<Stopwatch> stopwatch_;
  double begin_ms_;
  double stage_deadline_ms_;
  double least_end_ms_ = 0;  // of the stages that do not decide
  double settling_ms_ = 0;   // 0: the clocks need not settle
  double late_ms_ = 0;       // by which all ends later than the budget says
  double next_look_ms_ = 0;  // at Default
  TuningBuffers buffers_;
  std::deque<Racer> racers_;      // Default first
  std::ptrdiff_t proposals_ = 0;  // so many of them are what kernels propose
  int searched_ = 0;
  double level_ = 1;  // how long Default takes by now, relative to at first
  bool is_level_old_ = false;  // and says nothing of what is measured now
  std::optional<NumericCheck> check_;
  bool has_baseline_output_ = false;
  std::size_t next_copy_ = 0;
};

}  // namespace tunedops
