// The stage that finds candidates which no kernel proposed. Each kernel that
// has a space of configs gets a searcher, which learns from what was measured
// so far; the most promising config of all is tried next, until the stage's
// share of the budget is used up or nothing promises a gain any more.

#include <algorithm>
#include <limits>

#include "tuning/race.h"
#include "tuning/searcher.h"
#include "tuning/selection.h"

namespace tunedops {
namespace {

// Points that a searcher looks at; each trial costs time in proportion.
constexpr std::size_t kMostPoints = 4096;

// The search is over when so many trials in a row, and half of all, have gained
// nothing worth having.
constexpr int kPatience = 64;
constexpr double kGain = 0.005;

// After so many trials it is looked how long Default takes by now.
constexpr int kLevelled = 16;

}  // namespace

// What is searched in.
struct Race::Field {
  const Kernel* kernel;
  ConfigSpace* space;
  Searcher searcher;
  bool was_tried = false;

  // Without a measurement nobody knows the unit of its predictions: it gets one
  // trial, and if that fails another one where all others promise nothing.
  double hope(double hoped_ms, double best) const {
    if (searcher.has_learnt()) {
      return hoped_ms;
    }
    return was_tried ? best : 0;
  }
};

// A space may take long to know itself, for many problems to come, and a trial
// may be far longer than thought. That takes no time from those who decide.
Status Race::search() {
  if (spaces_.empty() || limits_.search == Search::kProposals ||
      out_of_time()) {
    return Status::ok();
  }
  Status searched =
      limits_.search == Search::kGuided ? search_guided() : search_all();
  late_ms_ = std::max(0.0, stopwatch_->now_ms() - stage_deadline_ms_);
  return searched;
}

// The searchers, which know what the look at the proposals taught.
std::vector<Race::Field> Race::make_fields() {
  std::vector<Field> fields;
  for (const KernelSpace& each : spaces_) {
    Field field{each.kernel, each.space.get(),
                Searcher(each.space->points(kMostPoints))};
    for (const Racer& racer : racers_) {
      const auto where = racer.candidate.kernel == each.kernel
                             ? each.space->locate(racer.candidate.config)
                             : std::nullopt;
      if (where && racer.is_out()) {
        field.searcher.learn_useless(*where);
      } else if (where) {
        field.searcher.learn(*where, racer.measurement.time_ms);
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

// Null if nothing is left to try.
Race::Field* Race::most_promising(std::vector<Field>& fields, double best,
                                  std::size_t& index) {
  Field* most = nullptr;
  double most_hope = 0;
  for (Field& field : fields) {
    if (const auto next = field.searcher.next()) {
      const double hope = field.hope(next->hoped_ms, best);
      if (most == nullptr || hope < most_hope) {
        most = &field;
        most_hope = hope;
        index = next->index;
      }
    }
  }
  return most;
}

Status Race::search_guided() {
  double best = 0;
  if (Status found = best_of(best); !found.is_ok()) {
    return found;
  }
  std::vector<Field> fields = make_fields();
  double last_best = best;
  int last_gain = 0;
  // A trial is two runs, and must end within the stage.
  while (stopwatch_->now_ms() + 2 * best < stage_deadline_ms_ &&
         searched_ - last_gain <= kPatience + last_gain) {
    std::size_t index = 0;
    Field* const field = most_promising(fields, best, index);
    if (field == nullptr) {
      break;
    }
    field->searcher.rule_out(index);
    const ConfigPoint& point = field->searcher.point(index);
    const Config config = field->space->config(point);
    auto plan = prepare_new(*field->kernel, config);
    if (plan == nullptr) {
      continue;
    }
    field->was_tried = true;
    if (Status leveled = level(); !leveled.is_ok()) {
      return leveled;
    }
    double milliseconds = 0;
    const Status tried =
        try_config(*field->kernel, config, std::move(plan), best, milliseconds);
    if (tried.is_sticky()) {
      return tried;
    }
    if (tried.is_ok()) {
      field->searcher.learn(point, milliseconds);
    } else {
      field->searcher.learn_useless(point);
    }
    if (best < last_best * (1 - kGain)) {
      last_best = best;
      last_gain = searched_;
    }
  }
  return Status::ok();
}

// Every config of every space, whatever it takes.
Status Race::search_all() {
  double best = 0;
  if (Status found = best_of(best); !found.is_ok()) {
    return found;
  }
  for (const KernelSpace& each : spaces_) {
    for (const ConfigPoint& point :
         each.space->points(std::numeric_limits<std::size_t>::max())) {
      if (out_of_time()) {
        return Status::ok();
      }
      const Config config = each.space->config(point);
      auto plan = prepare_new(*each.kernel, config);
      if (plan == nullptr) {
        continue;
      }
      if (Status leveled = level(); !leveled.is_ok()) {
        return leveled;
      }
      double milliseconds = 0;
      if (const Status tried = try_config(*each.kernel, config, std::move(plan),
                                          best, milliseconds);
          tried.is_sticky()) {
        return tried;
      }
    }
  }
  return Status::ok();
}

// Before a trial: looks now and then how long Default takes by now. The middle
// one of the last three looks counts, or a disturbed one would make all trials
// up to the next look fast. If Default is much faster than at first, what was
// disturbed is the first.
Status Race::level() {
  if ((searched_ + 1) % kLevelled != 0) {
    return Status::ok();
  }
  if (Status looked = glance(baseline()); !looked.is_ok()) {
    return looked;
  }
  levels_ = {levels_[1], levels_[2], level_};
  level_ = median({levels_.begin(), levels_.end()});
  if (level_ * kScreeningSlack < 1) {
    baseline().measurement.time_ms *= level_;
    levels_.fill(1);
    level_ = 1;
  }
  return Status::ok();
}

// Null for what was proposed, which is in the race already, and for what the
// kernel declines.
std::unique_ptr<Plan> Race::prepare_new(const Kernel& kernel,
                                        const Config& config) const {
  const bool is_proposed = std::any_of(
      racers_.begin(), racers_.begin() + proposals_, [&](const Racer& racer) {
        return racer.candidate.kernel == &kernel &&
               racer.candidate.config == config;
      });
  return is_proposed ? nullptr : kernel.prepare(problem_, config);
}

// Adds a racer if the config runs and is not far slower than the best, which it
// may become. `milliseconds` is what it took if it did not fail.
Status Race::try_config(const Kernel& kernel, const Config& config,
                        std::unique_ptr<Plan> plan, double& best,
                        double& milliseconds) {
  ++searched_;
  Racer& racer = racers_.emplace_back();
  racer.place = racers_.size() - 1;
  racer.measurement.solution = Solution{&kernel, config}.to_text();
  racer.candidate = {.solution = racer.measurement.solution,
                     .plan = std::move(plan),
                     .kernel = &kernel,
                     .config = config};
  Status status = enter(racer);  // which may itself take all the time
  if (status.is_ok() && out_of_time()) {
    status = Status::unsupported("no time left to try it");
  }
  if (status.is_ok()) {
    status = glance(racer);
  }
  milliseconds = racer.measurement.time_ms;
  if (status.is_ok() && milliseconds < best) {
    status = check_output(racer);
  }
  if (!status.is_ok() || milliseconds > best * kScreeningSlack) {
    racers_.pop_back();
  } else {
    best = std::min(best, milliseconds);
  }
  return status;
}

}  // namespace tunedops
