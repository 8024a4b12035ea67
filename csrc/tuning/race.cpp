#include "tuning/race.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuning/selection.h"

namespace tunedops {
namespace {

// Checks of the finalists and a few rounds of the final.
constexpr double kCallsToDecide = 24;

// Of what is left of the budget when Default's time is known, for what goes
// before them all the same.
constexpr double kLeastShare = 0.25;

// Of the budget, until the operands are there. To make all copies that a large
// cache asks for can take a CPU longer than all candidates do.
constexpr double kFillingShare = 0.1;

// How old the last look at Default may be: the clocks of a device change within
// milliseconds. And how much longer than a look the time between two is.
constexpr double kLookMs = 2;
constexpr double kBetweenLooks = 8;

// The most that any of the candidates wants.
template <class PlanNeed, class SpaceNeed>
std::size_t most(const std::vector<Candidate>& candidates,
                 const std::vector<KernelSpace>& spaces, PlanNeed plan_need,
                 SpaceNeed space_need) {
  std::size_t most = 0;
  for (const Candidate& candidate : candidates) {
    most = std::max(most, (*candidate.plan.*plan_need)());
  }
  for (const KernelSpace& space : spaces) {
    most = std::max(most, (*space.space.*space_need)());
  }
  return most;
}

std::size_t rotating_bytes(const TunerLimits& limits, const Backend& backend,
                           Device device) {
  return limits.rotating_bytes >= 0
             ? static_cast<std::size_t>(limits.rotating_bytes)
             : backend.cache_bytes(device);
}

}  // namespace

// The clock starts before the buffers are made: filling them counts.
Race::Race(const Backend& backend, const TunerLimits& limits,
           const OpDefinition& op, const ProblemKey& problem,
           std::vector<Candidate> candidates, std::vector<KernelSpace> spaces,
           Stream stream)
    : limits_(limits), op_(op), problem_(problem), stream_(stream),
      spaces_(std::move(spaces)),
      stopwatch_(backend.make_stopwatch(problem.header().device(), stream,
                                        limits.in_graphs)),
      begin_ms_(stopwatch_->now_ms()),
      stage_deadline_ms_(begin_ms_ + limits.budget_ms),
      buffers_(backend, op, problem, stream,
               rotating_bytes(limits, backend, problem.header().device()),
               backend.tuning_memory_bytes(problem.header().device()),
               most(candidates, spaces_, &Plan::workspace_bytes,
                    &ConfigSpace::workspace_bytes),
               most(candidates, spaces_, &Plan::counter_count,
                    &ConfigSpace::counter_count),
               [this] {
                 return stopwatch_->now_ms() - begin_ms_ <
                        kFillingShare * limits_.budget_ms;
               }) {
  for (Candidate& candidate : candidates) {
    Racer racer;
    racer.measurement.solution = candidate.solution;
    racer.candidate = std::move(candidate);
    racer.place = racers_.size();
    racers_.push_back(std::move(racer));
    ++proposals_;
  }
}

TuneOutcome Race::run() {
  TuneOutcome outcome;
  outcome.status = race(outcome);
  outcome.elapsed_ms = stopwatch_->now_ms() - begin_ms_;
  outcome.searched = searched_;
  for (Racer& racer : racers_) {
    outcome.measurements.push_back(std::move(racer.measurement));
  }
  return outcome;
}

Status Race::race(TuneOutcome& outcome) {
  if (!buffers_.status().is_ok()) {
    return buffers_.status();
  }
  const bool has_rivals = racers_.size() > 1 || !spaces_.empty();
  if (limits_.numerical_check.enabled && has_rivals) {
    check_.emplace(op_, problem_, buffers_, limits_.numerical_check);
  }
  if (Status entered = enter(baseline()); !entered.is_ok()) {
    return entered;
  }
  if (Status screened = screen(); !screened.is_ok()) {
    return screened;
  }
  if (racers_.size() > 1 && !was_any_tried()) {
    return Status::unsupported(
        "there was no time to try any kernel but Default; a larger budget "
        "(MAX_TUNING_BUDGET_MS, or budget_ms of autotune) gives more");
  }
  begin_stage(1);
  std::vector<Racer*> finalists;
  if (Status chosen = choose_finalists(finalists); !chosen.is_ok()) {
    return chosen;
  }
  if (Status timed = run_final(finalists); !timed.is_ok()) {
    return timed;
  }
  return decide(finalists, outcome);
}

// Stages after it need time too: this one may last until a share of the budget
// is used up, or less where calls are so long that the rest could not decide.
void Race::begin_stage(double share) {
  double end_ms = share * limits_.budget_ms;
  if (share < 1) {
    const double deciding_ms = kCallsToDecide * baseline().measurement.time_ms;
    if (least_end_ms_ == 0 && deciding_ms > 0) {
      const double used_ms = stopwatch_->now_ms() - begin_ms_;
      least_end_ms_ = std::lerp(used_ms, limits_.budget_ms, kLeastShare);
    }
    end_ms = std::max(std::min(end_ms, limits_.budget_ms - deciding_ms),
                      least_end_ms_);
  }
  stage_deadline_ms_ = begin_ms_ + late_ms_ + end_ms;
}

std::vector<Racer*> Race::challengers_by_time(bool with_slow) {
  std::vector<Racer*> order;
  for (Racer& racer : racers_) {
    if (!is_baseline(racer) &&
        (!racer.is_out() || (with_slow && racer.is_slow))) {
      order.push_back(&racer);
    }
  }
  std::stable_sort(
      order.begin(), order.end(), [](const Racer* left, const Racer* right) {
        return left->measurement.time_ms < right->measurement.time_ms;
      });
  return order;
}

// One run, for errors that show at once and to have it warm, and the launches
// for the stopwatch. Of calls that are long for the budget it is a reading as
// well: what comes with a first run is little beside them, and a second one may
// be more than there is time for.
Status Race::enter(Racer& racer) {
  const Plan& plan = *racer.candidate.plan;
  Status status = status_of([&] {
    const double begin_ms = stopwatch_->now_ms();
    if (Status ran = plan.run(buffers_.arguments(0), stream_); !ran.is_ok()) {
      return ran;
    }
    const double run_ms = stopwatch_->now_ms() - begin_ms;
    if (stopwatch_->sees_single_runs() &&
        run_ms > kLongCall * limits_.budget_ms) {
      racer.long_run_ms = run_ms;
    }
    for (std::size_t copy = 0; copy < buffers_.copies(); ++copy) {
      racer.rotation.push_back(plan.bind(buffers_.arguments(copy), stream_));
    }
    return Status::ok();
  });
  if (!status.is_ok()) {
    racer.drop(status.reason());
  }
  return status;
}

Status Race::first_reading(Racer& racer) {
  if (racer.long_run_ms > 0) {
    add_reading(racer, 1, racer.long_run_ms);
    return Status::ok();
  }
  if (Status warm = warm_up(racer); !warm.is_ok()) {
    return warm;
  }
  return is_baseline(racer) ? look_at_default(0) : glance(racer);
}

// A rough reading, enough to see who is far from the fastest.
Status Race::glance(Racer& racer) {
  if (!is_baseline(racer)) {
    if (Status looked = look_at_default(0); !looked.is_ok()) {
      return looked;
    }
  }
  double milliseconds = 0;
  Status status = status_of([&] {
    return stopwatch_->glance(racer.rotation, next_copy_, milliseconds);
  });
  next_copy_ = (next_copy_ + 1) % buffers_.copies();
  if (!status.is_ok()) {
    racer.drop(status.reason());
    return status;
  }
  add_reading(racer, 1, milliseconds);
  return status;
}

// Before another one is read: how long Default takes by now, if the last look
// is old. `calls` is 0 for a glance.
Status Race::look_at_default(int calls) {
  const double begin_ms = stopwatch_->now_ms();
  if (begin_ms < next_look_ms_) {
    return Status::ok();
  }
  Status looked =
      calls == 0 ? glance(baseline()) : screen_once(baseline(), calls);
  const double end_ms = stopwatch_->now_ms();
  next_look_ms_ =
      end_ms + std::max(kLookMs, kBetweenLooks * (end_ms - begin_ms));
  return looked;
}

// A device gets slower as it gets warm, and a glance may be another way to
// measure. So times are told as they would be if Default still took what it
// took at first: readings of one round are comparable then. Of those of several
// rounds the middle one counts, of two the lower: a disturbed one is high, and
// a lucky one is low.
void Race::add_reading(Racer& racer, int calls, double milliseconds) {
  double& time_ms = racer.measurement.time_ms;
  if (!is_baseline(racer)) {
    racer.readings.push_back(milliseconds / level_);
    std::vector<double> sorted = racer.readings;
    std::sort(sorted.begin(), sorted.end());
    time_ms = sorted[(sorted.size() - 1) / 2];
  } else {
    set_level(milliseconds);
  }
  racer.screened_calls += calls;
  racer.screened_ms += calls * milliseconds;
}

// A look at Default is as noisy as any reading, so it counts half and those
// before it the other half. One far above them was disturbed, and would make
// all readings up to the next look fast. If Default is much faster than at
// first, what was disturbed is the first.
void Race::set_level(double default_ms) {
  double& first_ms = baseline().measurement.time_ms;
  if (first_ms == 0) {
    first_ms = default_ms;
    return;
  }
  const double seen = default_ms / first_ms;
  level_ =
      is_level_old_
          ? seen
          : std::midpoint(level_, std::min(seen, level_ * kScreeningSlack));
  is_level_old_ = false;
  if (level_ * kScreeningSlack < 1) {
    first_ms *= level_;
    level_ = 1;
  }
}

Status Race::warm_up(Racer& racer) {
  double spent = 0;
  // The first run was one.
  for (int call = 1; (call < limits_.warmup_iterations ||
                      spent < limits_.warmup_duration_ms) &&
                     !out_of_time();
       ++call) {
    double milliseconds = 0;
    if (Status status = measure(racer, 1, milliseconds); !status.is_ok()) {
      return status;
    }
    spent += milliseconds;
  }
  return Status::ok();
}

Status Race::measure(Racer& racer, int calls, double& milliseconds) {
  Status status = status_of([&] {
    return stopwatch_->measure(racer.rotation, next_copy_, calls, milliseconds);
  });
  next_copy_ =
      (next_copy_ + static_cast<std::size_t>(calls)) % buffers_.copies();
  if (!status.is_ok()) {
    racer.drop(status.reason());
  }
  return status;
}

// Drops a racer whose output is wrong.
Status Race::check_output(Racer& racer) {
  if (!check_ || racer.is_right) {
    return Status::ok();
  }
  Status checked = compare_output(racer);
  racer.is_right = checked.is_ok();
  if (!checked.is_ok()) {
    racer.drop(checked.reason());
  }
  return checked;
}

Status Race::compare_output(Racer& racer) {
  if (!has_baseline_output_) {
    if (Status status = run_checked(baseline()); !status.is_ok()) {
      return status;
    }
    if (Status status = check_->set_baseline(); !status.is_ok()) {
      return status;
    }
    has_baseline_output_ = true;
  }
  if (Status status = run_checked(racer); !status.is_ok()) {
    return status;
  }
  return check_->check();
}

Status Race::run_checked(Racer& racer) {
  if (Status status = buffers_.reset_output(); !status.is_ok()) {
    return status;
  }
  if (Status status = status_of([&] {
        return racer.candidate.plan->run(buffers_.arguments(0), stream_);
      });
      !status.is_ok()) {
    return status;
  }
  return buffers_.check_untouched();
}

}  // namespace tunedops
