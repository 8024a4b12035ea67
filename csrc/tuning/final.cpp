// The last stage of a race: the few that are left are checked, then timed
// beside Default in rounds, each in a new random order, and judged by their
// paired ratios.

#include <algorithm>
#include <cmath>
#include <random>

#include "tuning/race.h"
#include "tuning/selection.h"

namespace tunedops {
namespace {

// The final may take this multiple of the limits of screening, because it
// decides; of calls longer than those limits at least so many rounds, since
// fewer could tell nothing. The problem's budget bounds it all the same.
constexpr double kShare = 4;
constexpr int kLeastRounds = 5;

// Half of Default's readings take this multiple of its fastest only when other
// work takes the processors away.
constexpr double kDisturbed = 3;

// Once the clocks have settled, a reading is so long that the gap behind it is
// short beside it.
constexpr double kSettledReadingMs = 1;

// Default's victory in fewer rounds says little if another seemed to be that
// much faster: it did not win only because so few rounds are no proof.
constexpr std::size_t kFewRounds = 3;
constexpr double kPromising = 0.8;

constexpr double kShortest = 1e-6;  // milliseconds; guards divisions

bool has_long_run(const Racer* racer) { return racer->long_run_ms > 0; }

}  // namespace

// The fastest that are right. Those dropped as slow get another chance, because
// whoever was faster may have failed since.
Status Race::choose_finalists(std::vector<Racer*>& finalists) {
  double best = baseline().measurement.time_ms;
  std::size_t late = 0;  // checks without time left
  for (Racer* racer : challengers_by_time(/*with_slow=*/true)) {
    if (finalists.size() == kFinalists || late == kFinalists ||
        racer->measurement.time_ms > best * kScreeningSlack) {
      racer->drop_as_slow();
      continue;
    }
    late += out_of_time() ? 1 : 0;
    Status checked = check_output(*racer);
    if (checked.is_sticky()) {
      return checked;
    }
    if (checked.is_ok()) {
      racer->take_back();
      best = std::min(best, racer->measurement.time_ms);
      finalists.push_back(racer);
    }
  }
  // In the order of registration, which breaks ties.
  std::sort(finalists.begin(), finalists.end(),
            [](const Racer* left, const Racer* right) {
              return left->place < right->place;
            });
  return Status::ok();
}

// Enough that a reading is more than the clock, within the limit.
int Race::calls_per_reading(const Racer& racer) const {
  const double least_ms = std::max(stopwatch_->resolution_ms(),
                                   settling_ms_ > 0 ? kSettledReadingMs : 0);
  const double calls =
      least_ms / std::max(racer.measurement.time_ms, kShortest);
  return std::clamp(static_cast<int>(std::ceil(std::min(calls, 1e6))), 1,
                    std::max(1, limits_.iterations));
}

Status Race::run_final(const std::vector<Racer*>& finalists) {
  std::vector<Racer*> order{&baseline()};
  order.insert(order.end(), finalists.begin(), finalists.end());
  const double most_ms =
      kShare * limits_.duration_ms * static_cast<double>(order.size());
  std::mt19937 engine(1);
  double spent_ms = 0;
  // There is time for one round in any case, unless all have run for so long
  // that their first runs are one.
  const bool have_round =
      out_of_time() && std::ranges::all_of(order, has_long_run);
  for (Racer* racer : order) {
    if (have_round) {
      racer->final_ms.push_back(racer->long_run_ms);
    }
  }
  for (int round = 0; round < std::max(1, limits_.iterations); ++round) {
    if ((round > 0 || have_round) && out_of_time()) {
      break;
    }
    if (round >= kLeastRounds && spent_ms >= most_ms) {
      break;
    }
    std::shuffle(order.begin(), order.end(), engine);
    if (Status timed = time_round(order, spent_ms); !timed.is_ok()) {
      return timed;
    }
  }
  for (Racer* racer : order) {
    racer->measurement.time_ms = median(racer->final_ms);
    racer->measurement.samples = static_cast<int>(racer->final_ms.size());
  }
  return Status::ok();
}

Status Race::time_round(const std::vector<Racer*>& order, double& spent_ms) {
  for (Racer* racer : order) {
    if (racer->is_out()) {
      continue;
    }
    const int calls = calls_per_reading(*racer);
    double milliseconds = 0;
    Status timed = measure(*racer, calls, milliseconds);
    if (timed.is_sticky() || (!timed.is_ok() && is_baseline(*racer))) {
      return timed;
    }
    if (timed.is_ok()) {
      racer->final_ms.push_back(milliseconds);
      spent_ms += calls * milliseconds;
    }
  }
  return Status::ok();
}

Status Race::decide(const std::vector<Racer*>& finalists,
                    TuneOutcome& outcome) {
  const bool is_early =
      out_of_time() && baseline().final_ms.size() < kFewRounds;
  const Racer* promising = nullptr;
  Racer* winner = &baseline();
  double best_ratio = 1.0;
  double spread = relative_spread(baseline().final_ms);
  for (Racer* racer : finalists) {
    if (racer->is_out()) {
      continue;
    }
    const Verdict verdict =
        compare_paired(racer->final_ms, baseline().final_ms, finalists.size());
    if (!verdict.accepted) {
      if (is_early && verdict.ratio < kPromising) {
        promising = racer;
      }
      racer->drop("not faster beyond doubt");
      continue;
    }
    const bool tied = !is_baseline(*winner) &&
                      verdict.ratio < best_ratio * (1 + kTie) &&
                      verdict.ratio > best_ratio * (1 - kTie);
    const bool better = tied ? racer->candidate.plan->launches() <
                                   winner->candidate.plan->launches()
                             : verdict.ratio < best_ratio;
    if (better) {
      winner = racer;
      best_ratio = verdict.ratio;
      spread = verdict.spread;
    }
  }
  if (promising != nullptr && is_baseline(*winner)) {
    return Status::unsupported(
        "there was no time to tell whether " + promising->measurement.solution +
        " is faster than Default; a larger budget (MAX_TUNING_BUDGET_MS, or "
        "budget_ms of autotune) gives more");
  }
  outcome.solution = winner->candidate.solution;
  outcome.time_ms = winner->measurement.time_ms;
  outcome.default_ms = baseline().measurement.time_ms;
  outcome.timing.samples = winner->measurement.samples;
  outcome.timing.spread = spread;
  outcome.timing.margin = kMargin;
  const std::vector<double>& readings = baseline().final_ms;
  // Who allows all of the time for waiting wants no result to be marked.
  outcome.disturbed =
      limits_.most_waited < 1 &&
      (outcome.default_ms >
           kDisturbed * *std::min_element(readings.begin(), readings.end()) ||
       stopwatch_->waited_share() > limits_.most_waited);
  outcome.timing.stopwatch = stopwatch_->name();
  if (outcome.disturbed) {
    outcome.timing.stopwatch += kBusy;
  }
  return Status::ok();
}

}  // namespace tunedops
