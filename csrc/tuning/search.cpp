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

struct Race::Field {
  const Kernel* kernel;
  ConfigSpace* space;
  Searcher searcher;
};

Status Race::search() {
  switch (limits_.search) {
  case Search::kProposals:
    return Status::ok();
  case Search::kGuided:
    return search_guided();
  case Search::kExhaustive:
    return search_all();
  }
  return Status::ok();
}

// The searchers, which know what the look at the proposals taught.
std::vector<Race::Field> Race::make_fields() {
  std::vector<Field> fields;
  for (const KernelSpace& each : spaces_) {
    Field field{each.kernel, each.space.get(),
                Searcher(each.space->points(kMostPoints))};
    for (const Racer& racer : racers_) {
      if (racer.candidate.kernel != each.kernel) {
        continue;
      }
      if (const auto where = each.space->locate(racer.candidate.config)) {
        field.searcher.rule_out(*where);
        if (racer.screened_calls > 0) {
          field.searcher.learn(*where, racer.measurement.time_ms);
        }
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

Status Race::search_guided() {
  if (spaces_.empty() || out_of_time()) {
    return Status::ok();
  }
  std::vector<Field> fields = make_fields();
  double best = 0;
  if (Status found = best_of(best); !found.is_ok()) {
    return found;
  }
  int last_gain = 0;
  int trials = 0;
  // A trial is two runs, and must end within the stage.
  while (stopwatch_->now_ms() + 2 * best < stage_deadline_ms_ &&
         trials - last_gain <= kPatience + last_gain) {
    Field* field = nullptr;
    Searcher::Proposal proposal;
    for (Field& each : fields) {
      if (const auto next = each.searcher.next();
          next && (field == nullptr || next->hoped_ms < proposal.hoped_ms)) {
        field = &each;
        proposal = *next;
      }
    }
    if (field == nullptr) {
      break;
    }
    if (++trials % kLevelled == 0) {
      if (Status leveled = glance(baseline()); !leveled.is_ok()) {
        return leveled;
      }
    }
    const ConfigPoint point = field->searcher.point(proposal.index);
    field->searcher.rule_out(proposal.index);
    const double before = best;
    double milliseconds = 0;
    const Status tried = try_config(*field->kernel, field->space->config(point),
                                    best, milliseconds);
    if (tried.is_sticky()) {
      return tried;
    }
    if (milliseconds > 0) {
      field->searcher.learn(point, milliseconds);
    }
    if (best < before * (1 - kGain)) {
      last_gain = trials;
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
  const auto proposed = static_cast<std::ptrdiff_t>(racers_.size());
  for (const KernelSpace& each : spaces_) {
    for (const ConfigPoint& point :
         each.space->points(std::numeric_limits<std::size_t>::max())) {
      if (out_of_time()) {
        return Status::ok();
      }
      const Config config = each.space->config(point);
      const bool is_known = std::any_of(
          racers_.begin(), racers_.begin() + proposed, [&](const Racer& racer) {
            return racer.candidate.kernel == each.kernel &&
                   racer.candidate.config == config;
          });
      if (is_known) {
        continue;
      }
      double milliseconds = 0;
      if (const Status tried =
              try_config(*each.kernel, config, best, milliseconds);
          tried.is_sticky()) {
        return tried;
      }
    }
  }
  return Status::ok();
}

// Adds a racer if the config runs and is not far slower than the best, which it
// may become. `milliseconds` stays as it is if nothing was measured.
Status Race::try_config(const Kernel& kernel, const Config& config,
                        double& best, double& milliseconds) {
  auto plan = kernel.prepare(problem_, config);
  if (plan == nullptr) {
    return Status::unsupported("the kernel declined it");
  }
  ++searched_;
  Racer& racer = racers_.emplace_back();
  racer.place = racers_.size() - 1;
  racer.measurement.solution = Solution{&kernel, config}.to_text();
  racer.candidate = {.solution = racer.measurement.solution,
                     .plan = std::move(plan),
                     .kernel = &kernel,
                     .config = config};
  Status status = enter(racer);
  if (status.is_ok()) {
    status = glance(racer);
  }
  if (status.is_ok()) {
    milliseconds = racer.measurement.time_ms;
    if (milliseconds < best) {
      status = check_output(racer);
    }
  }
  if (!status.is_ok() || milliseconds > best * kScreeningSlack) {
    racers_.pop_back();
  } else {
    best = std::min(best, milliseconds);
  }
  return status;
}

}  // namespace tunedops
