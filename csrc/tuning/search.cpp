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

// The search is over when trials have gained nothing worth having for long: for
// so many of them, for half of all there were, and for such a share of the
// budget. Trials that need nothing loaded count less.
constexpr double kPatience = 64;
constexpr double kPatienceShare = 0.2;
constexpr double kGain = 0.005;

// Of a trial, beside its two runs: launches, waiting and the reading.
constexpr double kTrialMs = 0.3;

// To know a space may take so much of the budget, and so may a last trial. What
// is beyond takes no time from whoever comes next.
constexpr double kLateShare = 0.05;

class Patience {
 public:
  Patience(double budget_ms, double now_ms, double best_ms)
      : least_ms_(kPatienceShare * budget_ms), gain_ms_(now_ms),
        best_ms_(best_ms) {}

  bool is_over(double now_ms) const {
    return used_ - at_gain_ > kPatience + at_gain_ &&
           now_ms - gain_ms_ > least_ms_;
  }

  /// After a trial, which took a share of the longest.
  void use(double share, double now_ms, double best_ms) {
    used_ += share;
    if (best_ms < best_ms_ * (1 - kGain)) {
      best_ms_ = best_ms;
      at_gain_ = used_;
      gain_ms_ = now_ms;
    }
  }

 private:
  double least_ms_;
  double gain_ms_;  // when the last one was
  double best_ms_;
  double used_ = 0;  // in trials
  double at_gain_ = 0;
};

}  // namespace

// What is searched in.
struct Race::SearchedSpace {
  const Kernel* kernel;
  ConfigSpace* space;
  Searcher searcher;
  int trials = 0;

  // Without a measurement nobody knows the unit of its predictions: it gets one
  // trial, and the more of them fail the less is expected of another.
  double worth(const Searcher::Trial& trial, double trial_ms) const {
    if (searcher.has_learnt()) {
      return trial.worth;
    }
    const ConfigPoint& point = searcher.point(trial.index);
    return trials == 0 ? std::numeric_limits<double>::infinity()
                       : Searcher::expected_worth(
                             -Searcher::kDoubt * static_cast<float>(trials),
                             Searcher::kDoubt,
                             static_cast<float>(trial_ms) + point.load_ms);
  }

  double longest_load_ms() const {
    float longest = 0;
    for (std::size_t i = 0; i < searcher.size(); ++i) {
      longest = std::max(longest, searcher.point(i).load_ms);
    }
    return longest;
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
  allow_for(stopwatch_->now_ms() - stage_deadline_ms_);
  return searched;
}

// The searchers, which know what the look at the proposals taught.
std::vector<Race::SearchedSpace> Race::make_searchers() {
  const double begin_ms = stopwatch_->now_ms();
  std::vector<SearchedSpace> searched;
  for (const KernelSpace& each : spaces_) {
    for (const Racer& racer : racers_) {
      if (racer.candidate.kernel == each.kernel && !racer.rotation.empty()) {
        each.space->set_loaded(racer.candidate.config);
      }
    }
    SearchedSpace one{each.kernel, each.space.get(),
                      Searcher(each.space->points(kMostPoints))};
    for (const Racer& racer : racers_) {
      const auto where = racer.candidate.kernel == each.kernel
                             ? each.space->locate(racer.candidate.config)
                             : std::nullopt;
      if (where && racer.is_out()) {
        one.searcher.learn_useless(*where);
      } else if (where) {
        one.searcher.learn(*where, racer.measurement.time_ms);
      }
    }
    searched.push_back(std::move(one));
  }
  allow_for(stopwatch_->now_ms() - begin_ms);
  return searched;
}

// Moves the ends of this stage and of those to come.
void Race::allow_for(double milliseconds) {
  const double beyond_ms =
      std::max(0.0, milliseconds - kLateShare * limits_.budget_ms);
  late_ms_ += beyond_ms;
  stage_deadline_ms_ += beyond_ms;
}

// Null if nothing is left to try.
Race::SearchedSpace* Race::most_promising(std::vector<SearchedSpace>& searched,
                                          double best, std::size_t& index) {
  const Searcher::Stakes stakes{.best_ms = best,
                                .trial_ms = kTrialMs + 2 * best};
  SearchedSpace* most = nullptr;
  double most_worth = 0;
  for (SearchedSpace& one : searched) {
    if (const auto next = one.searcher.next(stakes)) {
      const double worth = one.worth(*next, stakes.trial_ms);
      if (most == nullptr || worth > most_worth) {
        most = &one;
        most_worth = worth;
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
  std::vector<SearchedSpace> searched = make_searchers();
  double longest_load_ms = 0;
  for (const SearchedSpace& one : searched) {
    longest_load_ms = std::max(longest_load_ms, one.longest_load_ms());
  }
  Patience patience(limits_.budget_ms, stopwatch_->now_ms(), best);
  // A trial is two runs, and must end within the stage.
  while (stopwatch_->now_ms() + 2 * best < stage_deadline_ms_ &&
         !patience.is_over(stopwatch_->now_ms())) {
    std::size_t index = 0;
    SearchedSpace* const one = most_promising(searched, best, index);
    if (one == nullptr) {
      break;
    }
    one->searcher.rule_out(index);
    const ConfigPoint& point = one->searcher.point(index);
    const Config config = one->space->config(point);
    auto plan = prepare_new(*one->kernel, config);
    if (plan == nullptr) {
      continue;
    }
    ++one->trials;
    const double load_ms = point.load_ms;
    double milliseconds = 0;
    const Status tried =
        try_config(*one->kernel, config, std::move(plan), best, milliseconds);
    if (tried.is_sticky()) {
      return tried;
    }
    patience.use((kTrialMs + load_ms) / (kTrialMs + longest_load_ms),
                 stopwatch_->now_ms(), best);
    if (tried.is_ok()) {
      one->searcher.learn(point, milliseconds);
      one->searcher.set_loaded(index);
      one->space->set_loaded(config);
    } else {
      one->searcher.learn_useless(point);
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
    status = warm_up(racer);
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
