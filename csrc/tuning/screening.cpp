// The stage that leaves a few: all candidates are looked at once and, after the
// search has added to them, fewer and fewer are timed more and more; within the
// limits of iterations and duration that hold for every single solution.

#include <algorithm>

#include "tuning/race.h"
#include "tuning/selection.h"

namespace tunedops {
namespace {

struct Round {
  int calls;
  std::size_t kept;
};

// One unlucky reading must not end a race; and never fewer are kept than the
// final can choose from if some fail its check.
constexpr std::size_t kSecondGlances = 10 * kFinalists;
constexpr std::size_t kKeptAfterGlances = 5 * kFinalists;
constexpr Round kRounds[] = {
    {3, 3 * kFinalists}, {10, 2 * kFinalists}, {30, 2 * kFinalists}};

// Who tries everything has time to look twice at more of it.
constexpr std::size_t kKeptOfAll = 16;

// Shares of the budget, from the beginning, that have passed when these end.
// The final needs what is left: it decides.
constexpr double kUntilSearched = 0.65;
constexpr double kUntilSearchedIfSettled = 0.5;  // which takes time too
constexpr double kUntilScreened = 0.8;

constexpr double kShortest = 1e-6;  // milliseconds; guards divisions

}  // namespace

Status Race::screen() {
  begin_stage(kUntilSearched);
  if (Status looked = look_at_all(); !looked.is_ok()) {
    return looked;
  }
  if (Status searched = search(); !searched.is_ok()) {
    return searched;
  }
  begin_stage(kUntilScreened);
  if (Status looked = look_again(); !looked.is_ok()) {
    return looked;
  }
  if (Status dropped = drop_slow(kKeptAfterGlances); !dropped.is_ok()) {
    return dropped;
  }
  if (Status settled = settle(); !settled.is_ok()) {
    return settled;
  }
  for (const Round& round : kRounds) {
    if (out_of_time()) {
      break;
    }
    if (Status screened = screen_round(round.calls); !screened.is_ok()) {
      return screened;
    }
    if (Status dropped = drop_slow(round.kept); !dropped.is_ok()) {
      return dropped;
    }
  }
  return Status::ok();
}

// What the kernels propose. Ok unless nobody can go on: a challenger that fails
// is only out itself.
Status Race::look_at_all() {
  for (Racer& racer : racers_) {
    Status status = Status::ok();
    if (!is_baseline(racer)) {
      if (out_of_time()) {
        racer.drop_as_late();
        continue;
      }
      status = enter(racer);  // which may itself take all the time
      if (status.is_ok() && out_of_time() && racer.long_run_ms == 0) {
        racer.drop_as_late();
        continue;
      }
    }
    if (is_baseline(racer) && racers_.size() > 1 && out_of_time()) {
      // Its first run took all the time. Nobody else has one, and later stages,
      // which last longer, must not time who never ran.
      for (Racer* challenger : challengers_by_time(/*with_slow=*/false)) {
        challenger->drop_as_late();
      }
      break;
    }
    if (status.is_ok()) {
      status = first_reading(racer);
    }
    if (status.is_sticky() || (!status.is_ok() && is_baseline(racer))) {
      return status;
    }
    if (is_baseline(racer)) {
      plan_settling();  // now that its time is known
      begin_stage(settling_ms_ > 0 ? kUntilSearchedIfSettled : kUntilSearched);
    }
  }
  return Status::ok();
}

// If more are left than can be timed in rounds, which take longer to prepare,
// at the best of them; else at those who would be out because they seem to be
// far behind.
Status Race::look_again() {
  double best = 0;
  if (Status found = best_of(best); !found.is_ok()) {
    return found;
  }
  std::vector<Racer*> order = challengers_by_time(/*with_slow=*/false);
  const bool are_many = order.size() > kKeptAfterGlances;
  order.resize(std::min(order.size(), kSecondGlances));
  for (Racer* racer : order) {
    if (out_of_time()) {
      break;
    }
    const double time_ms = racer->measurement.time_ms;
    if ((!are_many && time_ms <= best * kScreeningSlack) ||
        time_ms > kLongCall * limits_.budget_ms) {
      continue;
    }
    if (const Status looked = glance(*racer); looked.is_sticky()) {
      return looked;
    }
  }
  return Status::ok();
}

// Or failed at it: then there is nothing to be had.
bool Race::was_any_tried() const {
  return std::any_of(
      racers_.begin() + 1, racers_.end(), [](const Racer& racer) {
        return !racer.is_late && (racer.is_out() || !racer.readings.empty());
      });
}

Status Race::screen_round(int calls) {
  is_level_old_ = true;  // of other numbers of calls
  next_look_ms_ = 0;
  for (Racer& racer : racers_) {
    if (racer.is_out() || (out_of_time() && !is_baseline(racer))) {
      continue;
    }
    Status status = look_at_default(calls);
    if (!status.is_ok()) {
      return status;
    }
    if (!is_baseline(racer)) {
      status = screen_once(racer, calls);
    }
    if (status.is_sticky() || (!status.is_ok() && is_baseline(racer))) {
      return status;
    }
  }
  return Status::ok();
}

// Up to `calls` more calls of one racer, as far as its limits allow.
Status Race::screen_once(Racer& racer, int calls) {
  const int left = limits_.iterations - racer.screened_calls;
  const double left_ms = limits_.duration_ms - racer.screened_ms;
  if (left <= 0 || left_ms <= 0) {
    return Status::ok();
  }
  const double affordable =
      left_ms / std::max(racer.measurement.time_ms, kShortest);
  calls = std::clamp(static_cast<int>(std::min(affordable, 1e6)), 1,
                     std::min(calls, left));
  double milliseconds = 0;
  if (Status status = measure(racer, calls, milliseconds); !status.is_ok()) {
    return status;
  }
  if (racer.has_glance_only) {
    racer.readings.clear();
    racer.has_glance_only = false;
  }
  add_reading(racer, calls, milliseconds);
  return Status::ok();
}

Status Race::drop_slow(std::size_t kept) {
  double best = 0;
  if (Status found = best_of(best); !found.is_ok()) {
    return found;
  }
  const std::vector<Racer*> order = challengers_by_time(/*with_slow=*/false);
  const std::size_t keep =
      kept * (limits_.search == Search::kExhaustive ? kKeptOfAll : 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i >= keep || order[i]->measurement.time_ms > best * kScreeningSlack) {
      order[i]->drop_as_slow();
    }
  }
  return Status::ok();
}

// The time of the fastest that is right. One that does nothing is fast, and
// would drive out all that work.
Status Race::best_of(double& milliseconds) {
  milliseconds = baseline().measurement.time_ms;
  for (Racer* racer : challengers_by_time(/*with_slow=*/false)) {
    if (out_of_time() || racer->measurement.time_ms >= milliseconds) {
      break;
    }
    Status checked = check_output(*racer);
    if (checked.is_sticky()) {
      return checked;
    }
    if (checked.is_ok()) {
      milliseconds = racer->measurement.time_ms;
    }
  }
  return Status::ok();
}

}  // namespace tunedops
