#include "tuning/tuner.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "tuning/numeric_check.h"
#include "tuning/selection.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {
namespace {

constexpr std::size_t kFinalists = 3;  // beside Default
// The final may take this multiple of the limit of screening, because it
// decides; the budget still bounds it.
constexpr double kFinalShare = 4;
constexpr int kScreeningCalls[] = {1, 3, 10, 30};
// Screening keeps whatever is within this factor of the best: early readings
// are rough.
constexpr double kScreeningSlack = 1.25;

struct Racer {
  Candidate* candidate = nullptr;
  std::vector<Launch> rotation;
  Measurement measurement;
  int screened_calls = 0;
  double screened_ms = 0;
  bool is_slow = false;          // the only reason why it is out
  bool is_right = false;         // its output was checked
  std::vector<double> final_ms;  // one a round

  bool is_out() const { return !measurement.refused.empty(); }
};

std::size_t workspace_of(const std::vector<Candidate>& candidates) {
  std::size_t bytes = 0;
  for (const Candidate& candidate : candidates) {
    bytes = std::max(bytes, candidate.plan->workspace_bytes());
  }
  return bytes;
}

class Race {
 public:
  Race(const Backend& backend, const TunerLimits& limits,
       const OpDefinition& op, const ProblemKey& problem,
       std::vector<Candidate>& candidates, Stream stream)
      : limits_(limits),
        op_(op),
        problem_(problem),
        stream_(stream),
        stopwatch_(
            backend.make_stopwatch(problem.header().device(), stream)),
        deadline_ms_(stopwatch_->now_ms() + limits.budget_ms),
        buffers_(backend, op, problem, stream, rotating_bytes(backend),
                 backend.tuning_memory_bytes(problem.header().device()),
                 workspace_of(candidates)) {
    for (Candidate& candidate : candidates) {
      Racer racer;
      racer.candidate = &candidate;
      racer.measurement.solution = candidate.solution;
      racers_.push_back(std::move(racer));
    }
  }

  TuneOutcome run() {
    TuneOutcome outcome;
    outcome.status = race(outcome);
    outcome.elapsed_ms = stopwatch_->now_ms() - deadline_ms_ + limits_.budget_ms;
    for (Racer& racer : racers_) {
      outcome.measurements.push_back(std::move(racer.measurement));
    }
    return outcome;
  }

 private:
  Racer& baseline() { return racers_.front(); }
  bool out_of_time() { return stopwatch_->now_ms() >= deadline_ms_; }

  std::size_t rotating_bytes(const Backend& backend) const {
    if (limits_.rotating_bytes >= 0) {
      return static_cast<std::size_t>(limits_.rotating_bytes);
    }
    return backend.cache_bytes(problem_.header().device());
  }

  Status race(TuneOutcome& outcome) {
    if (!buffers_.status().is_ok()) {
      return buffers_.status();
    }
    prepare_check();
    if (Status first = enter(baseline()); !first.is_ok()) {
      return first;
    }
    if (Status screened = screen(); !screened.is_ok()) {
      return screened;
    }
    std::vector<Racer*> finalists;
    if (Status chosen = choose_finalists(finalists); !chosen.is_ok()) {
      return chosen;
    }
    if (Status timed = run_final(finalists); !timed.is_ok()) {
      return timed;
    }
    decide(finalists, outcome);
    return Status::ok();
  }

  void prepare_check() {
    if (!limits_.numerical_check.enabled || racers_.size() == 1) {
      return;
    }
    check_.emplace(op_, problem_, buffers_.host_operands(), buffers_.output(),
                   limits_.numerical_check);
  }

  // One run, for errors that show at once, and the launches for the stopwatch.
  Status enter(Racer& racer) {
    const Plan& plan = *racer.candidate->plan;
    const Status status = plan.run(buffers_.arguments(0), stream_);
    if (!status.is_ok()) {
      racer.measurement.refused = status.reason();
      return status;
    }
    for (std::size_t copy = 0; copy < buffers_.copies(); ++copy) {
      racer.rotation.push_back(plan.bind(buffers_.arguments(copy), stream_));
    }
    return warm_up(racer);
  }

  Status warm_up(Racer& racer) {
    double spent = 0;
    for (int call = 0; (call < limits_.warmup_iterations ||
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

  Status measure(Racer& racer, int calls, double& milliseconds) {
    const Status status =
        stopwatch_->measure(racer.rotation, next_copy_, calls, milliseconds);
    next_copy_ = (next_copy_ + static_cast<std::size_t>(calls)) %
                 std::max<std::size_t>(1, buffers_.copies());
    if (!status.is_ok()) {
      racer.measurement.refused = status.reason();
    }
    return status;
  }

  // Calls that a reading of this racer should cover to be more than the clock.
  int batch_of(const Racer& racer, int wanted) const {
    const double estimate = std::max(racer.measurement.time_ms, 1e-6);
    const auto batch =
        static_cast<int>(std::ceil(stopwatch_->resolution_ms() / estimate));
    const int most = std::max(1, limits_.iterations);
    return std::clamp(std::max(batch, wanted), 1, most);
  }

  // Screens one racer with up to `wanted` more calls, within the limits.
  Status screen_once(Racer& racer, int wanted) {
    const int left = std::max(1, limits_.iterations) - racer.screened_calls;
    if (racer.screened_calls > 0 &&
        (left <= 0 || racer.screened_ms >= limits_.duration_ms)) {
      return Status::ok();
    }
    int calls = std::min(wanted, std::max(left, 1));
    if (racer.screened_calls > 0) {
      const double affordable = (limits_.duration_ms - racer.screened_ms) /
                                std::max(racer.measurement.time_ms, 1e-6);
      calls = static_cast<int>(
          std::clamp(affordable, 1.0, static_cast<double>(calls)));
    }
    double milliseconds = 0;
    if (Status status = measure(racer, calls, milliseconds);
        !status.is_ok()) {
      return status;
    }
    // The fastest reading is the least disturbed one: enough for screening.
    racer.measurement.time_ms =
        racer.screened_calls == 0
            ? milliseconds
            : std::min(racer.measurement.time_ms, milliseconds);
    racer.screened_calls += calls;
    racer.screened_ms += calls * milliseconds;
    return Status::ok();
  }

  Status screen() {
    bool first_round = true;
    for (const int wanted : kScreeningCalls) {
      for (Racer& racer : racers_) {
        if (racer.is_out()) {
          continue;
        }
        if (first_round && &racer != &baseline()) {
          const Status entered = try_to_enter(racer);
          if (entered.is_sticky()) {
            return entered;
          }
          if (!entered.is_ok()) {
            continue;
          }
        }
        if (!first_round && out_of_time()) {
          return Status::ok();
        }
        const Status timed = screen_once(racer, wanted);
        if (timed.is_sticky() || (!timed.is_ok() && &racer == &baseline())) {
          return timed;
        }
      }
      first_round = false;
      if (Status dropped = drop_slow(); !dropped.is_ok()) {
        return dropped;
      }
    }
    return Status::ok();
  }

  // The first run of a slow candidate may itself take all the time.
  Status try_to_enter(Racer& racer) {
    if (!out_of_time()) {
      if (Status entered = enter(racer); !entered.is_ok()) {
        return entered;
      }
    }
    return out_of_time() ? refuse(racer, "no time left to try it")
                         : Status::ok();
  }

  static Status refuse(Racer& racer, const char* reason) {
    racer.measurement.refused = reason;
    return Status::unsupported(reason);
  }

  static void drop(Racer& racer) {
    racer.is_slow = true;
    racer.measurement.refused = "slower than others";
  }

  std::vector<Racer*> challengers_by_time(bool with_slow) {
    std::vector<Racer*> order;
    for (Racer& racer : racers_) {
      if (&racer != &baseline() &&
          (!racer.is_out() || (with_slow && racer.is_slow))) {
        order.push_back(&racer);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Racer* left, const Racer* right) {
                       return left->measurement.time_ms <
                              right->measurement.time_ms;
                     });
    return order;
  }

  // Keeps the faster half, but at least twice as many as the final takes, and
  // nobody who is clearly behind the best. The best must be right: one that
  // does nothing is fast, and would drive out all that work.
  Status drop_slow() {
    double best = baseline().measurement.time_ms;
    for (Racer* racer : challengers_by_time(false)) {
      if (out_of_time() || racer->measurement.time_ms >= best) {
        break;
      }
      const Status checked = check_output(*racer);
      if (checked.is_sticky()) {
        return checked;
      }
      if (checked.is_ok()) {
        best = racer->measurement.time_ms;
      }
    }
    const std::vector<Racer*> order = challengers_by_time(false);
    const std::size_t keep =
        std::max(2 * kFinalists, (order.size() + 1) / 2);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i >= keep ||
          order[i]->measurement.time_ms > best * kScreeningSlack) {
        drop(*order[i]);
      }
    }
    return Status::ok();
  }

  // The fastest that are right. Those dropped as slow have another chance,
  // because whoever was faster may have failed since.
  Status choose_finalists(std::vector<Racer*>& finalists) {
    double best = baseline().measurement.time_ms;
    std::size_t late = 0;
    for (Racer* racer : challengers_by_time(true)) {
      if (finalists.size() == kFinalists || late == kFinalists ||
          racer->measurement.time_ms > best * kScreeningSlack) {
        drop(*racer);
        continue;
      }
      late += out_of_time() ? 1 : 0;
      const Status checked = check_output(*racer);
      if (checked.is_sticky()) {
        return checked;
      }
      if (checked.is_ok()) {
        racer->is_slow = false;
        racer->measurement.refused.clear();
        best = std::min(best, racer->measurement.time_ms);
        finalists.push_back(racer);
      }
    }
    // In the order of registration, which breaks ties.
    std::sort(finalists.begin(), finalists.end());
    return Status::ok();
  }

  // Refuses a racer whose output is wrong.
  Status check_output(Racer& racer) {
    if (!check_ || racer.is_right) {
      return Status::ok();
    }
    const Status checked = compare_output(racer);
    racer.is_right = checked.is_ok();
    if (!checked.is_ok()) {
      racer.is_slow = false;
      racer.measurement.refused = checked.reason();
    }
    return checked;
  }

  Status compare_output(Racer& racer) {
    if (!has_baseline_output_) {
      std::vector<std::byte> output;
      if (Status status = run_checked(baseline(), output); !status.is_ok()) {
        return status;
      }
      check_->set_baseline(std::move(output));
      has_baseline_output_ = true;
    }
    std::vector<std::byte> output;
    if (Status status = run_checked(racer, output); !status.is_ok()) {
      return status;
    }
    return check_->check(output);
  }

  Status run_checked(Racer& racer, std::vector<std::byte>& output) {
    if (Status status = buffers_.reset_output(); !status.is_ok()) {
      return status;
    }
    if (Status status =
            racer.candidate->plan->run(buffers_.arguments(0), stream_);
        !status.is_ok()) {
      return status;
    }
    return buffers_.fetch_output(output);
  }

  Status run_final(const std::vector<Racer*>& finalists) {
    std::vector<Racer*> order{&baseline()};
    order.insert(order.end(), finalists.begin(), finalists.end());
    const int rounds = std::max(1, limits_.iterations);
    const double most_ms = kFinalShare * limits_.duration_ms *
                           static_cast<double>(order.size());
    std::mt19937 engine(1);
    double spent = 0;
    for (int round = 0; round < rounds; ++round) {
      if (round > 0 && (spent >= most_ms || out_of_time())) {
        break;
      }
      std::shuffle(order.begin(), order.end(), engine);
      for (Racer* racer : order) {
        if (racer->is_out()) {
          continue;
        }
        const int calls = batch_of(*racer, 1);
        double milliseconds = 0;
        const Status timed = measure(*racer, calls, milliseconds);
        if (timed.is_sticky() || (!timed.is_ok() && racer == &baseline())) {
          return timed;
        }
        if (timed.is_ok()) {
          racer->final_ms.push_back(milliseconds);
          spent += calls * milliseconds;
        }
      }
    }
    for (Racer* racer : order) {
      racer->measurement.time_ms = median(racer->final_ms);
      racer->measurement.samples = static_cast<int>(racer->final_ms.size());
    }
    return Status::ok();
  }

  void decide(const std::vector<Racer*>& finalists, TuneOutcome& outcome) {
    Racer* winner = &baseline();
    double best_ratio = 1.0;
    for (Racer* racer : finalists) {
      if (racer->is_out()) {
        continue;
      }
      const Verdict verdict =
          compare_paired(racer->final_ms, baseline().final_ms);
      if (!verdict.accepted) {
        racer->measurement.refused = "not faster beyond doubt";
        continue;
      }
      const bool tied =
          winner != &baseline() && verdict.ratio < best_ratio * (1 + kTie) &&
          verdict.ratio > best_ratio * (1 - kTie);
      const bool better =
          tied ? racer->candidate->plan->launches() <
                     winner->candidate->plan->launches()
               : verdict.ratio < best_ratio;
      if (better) {
        winner = racer;
        best_ratio = verdict.ratio;
      }
    }
    outcome.solution = winner->candidate->solution;
    outcome.time_ms = winner->measurement.time_ms;
    outcome.default_ms = baseline().measurement.time_ms;
  }

  const TunerLimits& limits_;
  const OpDefinition& op_;
  const ProblemKey& problem_;
  Stream stream_;
  std::unique_ptr<Stopwatch> stopwatch_;
  double deadline_ms_;
  TuningBuffers buffers_;
  std::vector<Racer> racers_;
  std::optional<NumericCheck> check_;
  bool has_baseline_output_ = false;
  std::size_t next_copy_ = 0;
};

}  // namespace

TuneOutcome Tuner::tune(const OpDefinition& op, const ProblemKey& problem,
                        std::vector<Candidate> candidates,
                        Stream stream) const {
  const auto scope = backend_.enter_tuning(problem.header().device());
  return Race(backend_, limits_, op, problem, candidates, stream).run();
}

}  // namespace tunedops
