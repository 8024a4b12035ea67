// What happens on a miss of the thread's cache, in the order in which it
// happens: overlay, stored results (context_tiers.cpp), tuning, ON_MISS. Each
// tier either decides or passes on.

#include <algorithm>
#include <stdexcept>

#include "tuning/tuning_context.h"

namespace tunedops {

const Plan* TuningContext::resolve(const ProblemKey& problem, Stream stream) {
  if (ThreadState::current().originals_only) {
    return nullptr;
  }
  // Taken before deciding: a change of switches meanwhile must not be cached
  // under the epoch that it starts.
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  Notices notices;
  Decision decision;
  try {
    decision = decide(problem, stream, notices);
  } catch (...) {
    say(notices);  // why nothing is stored, for one
    throw;
  }
  if (decision.lasting) {
    ThreadCaches::current().problems.insert(
        problem, ProblemCache::hash_of(problem), ThreadState::current().overlay,
        decision.plan, epoch, static_cast<std::uint32_t>(decision.tier));
  }
  say(notices);
  trace(problem, decision);
  return decision.plan;
}

void TuningContext::trace(const ProblemKey& problem, const Decision& decision) {
  if (log_.shows(Verbosity::kTrace)) {
    const KeyText key = key_text(problem);
    log_.write(Verbosity::kTrace,
               key.op + ',' + key.params + ": " +
                   std::string(phrase_of(decision.tier)) + ", " +
                   (decision.plan == nullptr ? "Default" : "a plan of ours") +
                   (decision.lasting ? "" : ", for this call only"));
  }
}

TuningContext::Decision TuningContext::decide(const ProblemKey& problem,
                                              Stream stream, Notices& notices) {
  if (const auto laid = from_overlay(problem, notices)) {
    return *laid;
  }
  if (const auto stored = from_stored(problem, notices)) {
    return *stored;
  }
  if (const auto tuned = from_tuning(problem, stream, notices)) {
    return *tuned;
  }
  return on_miss(problem, notices);
}

// What products may still be tuned for, in milliseconds; not above 0 if this
// one may not be tuned at all. The cheap questions come first, since a program
// whose shapes never repeat asks for each product.
double TuningContext::tuning_left_ms(const ProblemKey& problem) {
  const ProblemHeader header = problem.header();
  if (!enabled()) {
    return 0;  // only an overlay is: it says what to use, not to tune
  }
  const std::lock_guard lock(mutex_);
  if (!settings_.boolean("TUNING") || settings_.boolean("READ_ONLY") ||
      replayed() != nullptr || is_forked() || is_poisoned(header.device_type)) {
    return 0;
  }
  const double left_ms = pace_.left_ms(
      1000.0 * static_cast<double>(settings_.integer("TOTAL_BUDGET_S")));
  return left_ms > 0 && pace_.allows(op(header.op).families(problem),
                                     settings_.integer("MAX_VARIANTS"))
             ? left_ms
             : 0;
}

std::optional<TuningContext::Decision>
TuningContext::from_tuning(const ProblemKey& problem, Stream stream,
                           Notices& notices) {
  const Device device = problem.header().device();
  if (tuning_left_ms(problem) <= 0) {
    return std::nullopt;
  }
  if (!backend(device).may_tune(device, stream).is_ok()) {
    return Decision{.plan = on_miss(problem, notices).plan, .lasting = false};
  }
  std::unique_lock turn(tuning_mutex_, std::try_to_lock);
  if (!turn.owns_lock()) {
    // Waiting would stall this thread for another's measurement. No error
    // either, whatever ON_MISS says: the next call tunes.
    record_untuned(problem, notices);
    return Decision{.plan = nullptr, .lasting = false};
  }
  if (const auto meanwhile = from_results(problem, notices)) {
    return meanwhile;
  }
  // Asked again: whoever had the turn before may have used up what was left.
  const double left_ms = tuning_left_ms(problem);
  if (left_ms <= 0) {
    return std::nullopt;
  }
  const auto outcome = tune_within(left_ms, problem, stream, notices);
  turn.unlock();
  if (!outcome) {
    log_.write(Verbosity::kResults,
               "no more tuning inside products: TOTAL_BUDGET_S is used up");
    return std::nullopt;
  }
  trace(problem, *outcome);
  if (!outcome->status.is_ok()) {
    const KeyText key = key_text(problem);
    notices.push_back("tuning of '" + key.op + ',' + key.params +
                      "' stopped: " + outcome->status.reason());
    return std::nullopt;
  }
  return from_results(problem, notices);
}

// The plan of the first kernel that has a guess; null if none has. The caller
// holds the lock.
const Plan* TuningContext::heuristic_plan(const ProblemKey& problem) {
  const ProblemHeader header = problem.header();
  const std::vector<std::string> competing = settings_.kernels();
  for (const Kernel* kernel : kernels_.kernels(header.op, header.device_type)) {
    if (!may_compete(*kernel, competing) ||
        !kernel->supports(problem).is_ok()) {
      continue;
    }
    const auto config = kernel->heuristic(problem);
    const Plan* plan = nullptr;
    if (config && plans_.plan(problem, {kernel, *config}, &plan).is_ok()) {
      return plan;
    }
  }
  return nullptr;
}

// Of this thread. The caller holds the lock.
OnMiss TuningContext::miss_policy() const {
  const Replay* const replay = replayed();
  return replay != nullptr && replay->on_miss ? *replay->on_miss
                                              : settings_.on_miss();
}

TuningContext::Decision TuningContext::on_miss(const ProblemKey& problem,
                                               Notices& notices) {
  record_untuned(problem, notices);
  OnMiss policy = OnMiss::kDefault;
  Decision decision;
  {
    const std::lock_guard lock(mutex_);
    policy = miss_policy();
    if (policy == OnMiss::kHeuristic) {
      decision.plan = heuristic_plan(problem);
    }
  }
  if (policy == OnMiss::kError) {
    const KeyText key = key_text(problem);
    throw std::runtime_error(
        "no result is stored for '" + key.op + ',' + key.params +
        (is_replaying() ? "' in replay_only(); tune it before, or "
                          "let on_miss be 'default'"
                        : "' and TUNEDOPS_ON_MISS is 'error'; tune "
                          "it or set ON_MISS to 'default'"));
  }
  return decision;
}

// In forked children too: they tune nothing, so nobody else would know.
void TuningContext::record_untuned(const ProblemKey& problem,
                                   Notices& notices) {
  const std::lock_guard lock(mutex_);
  if (settings_.boolean("RECORD_UNTUNED") && !settings_.boolean("READ_ONLY") &&
      replayed() == nullptr) {
    const Device device = problem.header().device();
    untuned_.record(insert_device_tag(settings_.get("UNTUNED_FILENAME"),
                                      backend(device).file_tag(device)),
                    key_text(problem), notices);
  }
}

// What to say of a solution whose text is none.
Status TuningContext::unknown(const ProblemKey& problem,
                              const std::string& text) const {
  const ProblemHeader header = problem.header();
  const Kernel* const kernel =
      kernels_.named_in(header.op, header.device_type, text);
  if (kernel == nullptr) {
    std::string names;
    for (const Kernel* each : kernels_.kernels(header.op, header.device_type)) {
      names += (names.empty() ? "" : ", ") + std::string(each->name());
    }
    return Status::unsupported("no kernel here has that name; there are " +
                               names);
  }
  const Status refused =
      Status::unsupported("what follows the kernel's name is no config");
  return status_of([&] {
    return kernel->supports(problem).is_ok()
               ? refused_config(*kernel, problem, refused)
               : refused;
  });
}

// The plan of a solution in text; null and Ok for Default. The caller holds
// the lock.
Status TuningContext::plan_of(const ProblemKey& problem,
                              const std::string& text, const Plan** plan) {
  const ProblemHeader header = problem.header();
  const auto solution = kernels_.parse(header.op, header.device_type, text);
  *plan = nullptr;
  if (!solution) {
    return text == kDefaultKernel ? Status::ok() : unknown(problem, text);
  }
  if (solution->is_default()) {
    return Status::ok();
  }
  return plans_.plan(problem, *solution, plan);
}

std::string TuningContext::unusable(const ProblemKey& problem,
                                    const std::string& solution) {
  const std::lock_guard lock(mutex_);
  const Plan* plan = nullptr;
  return plan_of(problem, solution, &plan).reason();
}

void TuningContext::report_failed_run(const ProblemKey& problem,
                                      const Status& status) {
  const KeyText key = key_text(problem);
  log_.warn("the chosen solution of '" + key.op + ',' + key.params +
            "' could not run (" + status.reason() + "); Default ran instead");
}

void TuningContext::throw_failed_run(const ProblemKey& problem,
                                     const Status& status) const {
  const KeyText key = key_text(problem);
  throw std::runtime_error(
      "tunedops: the chosen solution of '" + key.op + ',' + key.params +
      "' failed (" + status.reason() +
      ") and may have written a part of the output, which held what the "
      "product is added to; compute it again from the former contents of the "
      "output");
}

}  // namespace tunedops
