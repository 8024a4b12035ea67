// How the context tunes: which candidates race, under which limits, and what
// becomes of the outcome. For products that miss and for explicit calls.

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tuning/tuning_context.h"

namespace tunedops {
namespace {

std::string describe(const TuneOutcome& measured) {
  const Timing& timing = measured.timing;
  return measured.solution + ' ' + format_milliseconds(measured.time_ms) +
         " ms (Default " + format_milliseconds(measured.default_ms) +
         " ms), spread " + format_decimal(100 * timing.spread, 2) + " %, " +
         std::to_string(timing.samples) +
         (timing.samples == 1 ? " round" : " rounds");
}

}  // namespace

TunerLimits TuningContext::limits(const TuneOptions& options) const {
  const auto milliseconds = [this](const char* name) {
    return static_cast<double>(settings_.integer(name));
  };
  TunerLimits limits;
  limits.duration_ms = milliseconds("MAX_TUNING_DURATION_MS");
  limits.iterations =
      static_cast<int>(settings_.integer("MAX_TUNING_ITERATIONS"));
  limits.warmup_duration_ms = milliseconds("MAX_WARMUP_DURATION_MS");
  limits.warmup_iterations =
      static_cast<int>(settings_.integer("MAX_WARMUP_ITERATIONS"));
  limits.budget_ms =
      options.budget_ms.value_or(milliseconds("MAX_TUNING_BUDGET_MS"));
  const std::int64_t rotating = settings_.integer("ROTATING_BUFFER_SIZE");
  limits.rotating_bytes = rotating < 0 ? -1 : rotating << 20;
  limits.most_waited =
      static_cast<double>(settings_.integer("MAX_WAITING_PERCENT")) / 100;
  limits.in_graphs = settings_.boolean("GRAPH_REPLAY");
  limits.search = options.search.value_or(settings_.search());
  limits.numerical_check = settings_.numerical_check();
  return limits;
}

bool TuningContext::may_compete(const Kernel& kernel,
                                const std::vector<std::string>& kernels) {
  return kernels.empty() || kernel.name() == kDefaultKernel ||
         std::find(kernels.begin(), kernels.end(), kernel.name()) !=
             kernels.end();
}

// A misspelt name would silently leave the field to Default.
void TuningContext::check_kernel_filter(Notices& notices) const {
  for (const std::string& name : settings_.kernels()) {
    bool known = false;
    for (const auto& op : ops_) {
      for (const auto& [type, device_backend] : backends_) {
        for (const Kernel* kernel : kernels_.kernels(op->id(), type)) {
          known = known || kernel->name() == name;
        }
      }
    }
    if (!known) {
      notices.push_back("TUNEDOPS_KERNELS names '" + name +
                        "', which no kernel here is called");
    }
  }
}

// Default first, then every supported config of every kernel. Not from the plan
// store: most of these will never run again.
std::vector<Candidate>
TuningContext::candidates(const ProblemKey& problem,
                          const std::vector<std::string>& kernels) const {
  const ProblemHeader header = problem.header();
  std::vector<Candidate> candidates;
  for (const Kernel* kernel : kernels_.kernels(header.op, header.device_type)) {
    if (!may_compete(*kernel, kernels) || !kernel->supports(problem).is_ok()) {
      continue;
    }
    for (const Config& config : kernel->configs(problem)) {
      if (auto plan = kernel->prepare(problem, config)) {
        candidates.push_back({.solution = Solution{kernel, config}.to_text(),
                              .plan = std::move(plan),
                              .kernel = kernel,
                              .config = config});
      }
    }
  }
  const auto yardstick = std::find_if(
      candidates.begin(), candidates.end(),
      [](const Candidate& c) { return c.solution == kDefaultKernel; });
  if (yardstick == candidates.end()) {
    return {};
  }
  std::rotate(candidates.begin(), yardstick, yardstick + 1);
  return candidates;
}

// Where a search may go on.
std::vector<KernelSpace>
TuningContext::spaces(const ProblemKey& problem,
                      const std::vector<std::string>& kernels) const {
  const ProblemHeader header = problem.header();
  std::vector<KernelSpace> spaces;
  for (const Kernel* kernel : kernels_.kernels(header.op, header.device_type)) {
    if (may_compete(*kernel, kernels) && kernel->supports(problem).is_ok()) {
      if (auto space = kernel->space(problem)) {
        spaces.push_back({kernel, std::move(space)});
      }
    }
  }
  return spaces;
}

TuneOutcome TuningContext::run_tuner(const ProblemKey& problem, Stream stream,
                                     const TuneOptions& options,
                                     double deadline_ms, Notices& notices) {
  const OriginalsOnly mark;
  TuneOutcome outcome;
  // Making things on a device can fail where it is full; that is no reason to
  // fail the product that is tuned.
  const Status status = status_of([&] {
    outcome = race(problem, stream, options, deadline_ms, notices);
    return outcome.status;
  });
  outcome.status = status;
  if (status.is_sticky()) {
    is_poisoned(problem.header().device_type) = true;
  }
  return outcome;
}

TuneOutcome TuningContext::race(const ProblemKey& problem, Stream stream,
                                const TuneOptions& options, double deadline_ms,
                                Notices& notices) {
  const ProblemHeader header = problem.header();
  const Backend& device_backend = backend(header.device());
  const double begin_ms = device_backend.now_ms();
  std::vector<Candidate> racing;
  std::vector<KernelSpace> searched;
  TunerLimits limits_now;
  {
    const std::lock_guard lock(mutex_);
    limits_now = limits(options);
    const std::vector<std::string> kernels =
        options.kernels.empty() ? settings_.kernels() : options.kernels;
    racing = candidates(problem, kernels);
    if (limits_now.search != Search::kProposals) {
      searched = spaces(problem, kernels);
    }
    check_kernel_filter(notices);
  }
  if (racing.empty()) {
    TuneOutcome outcome;
    outcome.status =
        Status::unsupported("Default does not support this problem");
    return outcome;
  }
  const bool is_inside_product = std::isfinite(deadline_ms);
  if (is_inside_product && racing.size() == 1 && searched.empty()) {
    // Timing what wins anyway would stall the program for a number that only
    // people read; explicit tuning does it.
    TuneOutcome outcome;
    outcome.solution = racing.front().solution;
    return outcome;
  }
  if (limits_now.search == Search::kExhaustive) {
    // It takes minutes. Whoever tunes asked for them; a program that waits for
    // a product did not.
    if (is_inside_product) {
      limits_now.search = Search::kGuided;
    } else if (!options.budget_ms) {
      limits_now.budget_ms = std::numeric_limits<double>::infinity();
    }
  }
  const double now_ms = device_backend.now_ms();
  limits_now.budget_ms = std::min(limits_now.budget_ms - (now_ms - begin_ms),
                                  deadline_ms - now_ms);
  return Tuner(device_backend, limits_now)
      .tune(op(header.op), problem, std::move(racing), stream,
            std::move(searched));
}

// Tunes inside a product, which waits for all of it, also for what goes before
// and after the race. Nothing if the time that was left for all products ended
// the race, and not the problem's own budget: what is found in such a hurry
// would stay in the file for ever.
std::optional<TuneOutcome> TuningContext::tune_within(double left_ms,
                                                      const ProblemKey& problem,
                                                      Stream stream,
                                                      Notices& notices) {
  const ProblemHeader header = problem.header();
  const Backend& clock = backend(header.device());
  const double begin_ms = clock.now_ms();
  const double deadline_ms = begin_ms + left_ms;
  std::optional<TuneOutcome> outcome =
      run_tuner(problem, stream, {}, deadline_ms, notices);
  if (outcome->status.is_ok()) {
    if (clock.now_ms() < deadline_ms) {
      keep(problem, *outcome, /*persist=*/true, notices);
    } else {
      outcome.reset();
    }
  }
  const std::lock_guard lock(mutex_);
  if (outcome && outcome->status.is_ok() && outcome->was_measured()) {
    Won& won = won_in_products_[header.device()];
    won.all += 1;
    won.disturbed += outcome->disturbed ? 1 : 0;
  }
  pace_.spend(op(header.op).families(problem), clock.now_ms() - begin_ms);
  return outcome;
}

void TuningContext::trace(const ProblemKey& problem,
                          const TuneOutcome& outcome) {
  const KeyText key = key_text(problem);
  if (log_.shows(Verbosity::kTuning)) {
    for (const Measurement& m : outcome.measurements) {
      log_.write(Verbosity::kTuning,
                 key.op + ',' + key.params + ": " + m.solution + ' ' +
                     format_milliseconds(m.time_ms) + " ms" +
                     (m.refused.empty() ? "" : " (" + m.refused + ')'));
    }
  }
  if (outcome.status.is_ok() && !outcome.was_measured()) {
    log_.write(Verbosity::kResults, key.op + ',' + key.params + " -> " +
                                        outcome.solution +
                                        ", the only candidate");
    return;
  }
  const std::string found =
      outcome.was_measured() ? describe(outcome) : "nothing";
  // Of failures too: a program waited for them.
  log_.write(Verbosity::kResults,
             key.op + ',' + key.params + " -> " + found + ", tuned in " +
                 format_milliseconds(outcome.elapsed_ms) + " ms" +
                 (outcome.disturbed ? ", disturbed by other work" : ""));
}

void TuningContext::keep(const ProblemKey& problem, const TuneOutcome& outcome,
                         bool persist, Notices& notices) {
  CsvRow row;
  row.key = key_text(problem);
  row.solution = outcome.solution;
  if (outcome.was_measured()) {
    row.extra =
        timed_fields(outcome.time_ms, outcome.default_ms, outcome.timing);
  }
  row.won_here = true;
  const std::lock_guard lock(mutex_);
  won_ = won_ || persist;
  if (open_file(problem.header().device(), notices)
          .put(std::move(row), persist, notices)) {
    raise_epoch();
  }
}

TuneOutcome TuningContext::tune(const ProblemKey& problem, Stream stream,
                                bool persist,
                                const Surroundings& surroundings) {
  return tune_explicitly(problem, stream, {},
                         persist ? Keep::kInFile : Keep::kInMemory,
                         surroundings);
}

TuneOutcome TuningContext::measure(const ProblemKey& problem, Stream stream,
                                   const TuneOptions& options,
                                   const Surroundings& surroundings) {
  return tune_explicitly(problem, stream, options, Keep::kNowhere,
                         surroundings);
}

TuneOutcome TuningContext::tune_explicitly(const ProblemKey& problem,
                                           Stream stream,
                                           const TuneOptions& options,
                                           Keep where,
                                           const Surroundings& surroundings) {
  const Device device = problem.header().device();
  if (const std::string reason = why_read_only(); !reason.empty()) {
    throw std::runtime_error("tune: " + reason);
  }
  if (is_forked()) {
    throw std::runtime_error("tune: not in a forked child; start the process "
                             "with 'spawn'");
  }
  if (is_poisoned(device.type)) {
    throw std::runtime_error("tune: the device failed earlier in this process");
  }
  if (const Status allowed = backend(device).may_tune(device, stream);
      !allowed.is_ok()) {
    throw std::runtime_error("tune: " + allowed.reason());
  }
  Notices notices;
  TuneOutcome outcome;
  {
    const std::lock_guard turn(tuning_mutex_);
    const auto held = surroundings ? surroundings() : nullptr;
    outcome = run_tuner(problem, stream, options,
                        std::numeric_limits<double>::infinity(), notices);
    if (outcome.status.is_ok() && where != Keep::kNowhere) {
      keep(problem, outcome, where == Keep::kInFile, notices);
      raise_epoch();
    }
  }
  trace(problem, outcome);
  say(notices);
  return outcome;
}

std::vector<std::pair<std::string, std::string>>
TuningContext::refusals(const ProblemKey& problem) const {
  std::vector<std::pair<std::string, std::string>> all;
  const ProblemHeader header = problem.header();
  for (const Kernel* kernel : kernels_.kernels(header.op, header.device_type)) {
    all.emplace_back(kernel->name(), kernel->supports(problem).reason());
  }
  return all;
}

std::vector<std::string>
TuningContext::competitors(const ProblemKey& problem) const {
  std::vector<std::string> names;
  const std::lock_guard lock(mutex_);
  for (Candidate& candidate : candidates(problem, settings_.kernels())) {
    names.push_back(std::move(candidate.solution));
  }
  return names;
}

}  // namespace tunedops
