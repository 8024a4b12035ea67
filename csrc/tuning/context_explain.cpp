// Who decides on a problem, for people: each tier is asked as a product asks
// it, but all of them answer, and nothing is tuned.

#include "tuning/tuning_context.h"

namespace tunedops {
namespace {

// What a tier with rows has to say, and whether that decides: always if its
// rows have the last word, else if the row can be used.
void hear(Explanation& told, bool is_asked, TierAnswer answer,
          bool has_last_word = false) {
  const bool decides =
      !answer.solution.empty() && (has_last_word || answer.refused.empty());
  if (decides && is_asked && told.decided_by.empty()) {
    told.decided_by = answer.tier;
    told.solution = answer.refused.empty() ? answer.solution : kDefaultKernel;
  }
  told.tiers.push_back(std::move(answer));
}

TierAnswer answer_of(Tier tier, const std::string& place, const CsvRow* row,
                     const Status& usable) {
  TierAnswer answer{.tier = std::string(name_of(tier)), .place = place};
  if (row != nullptr) {
    answer.place += row->line == 0 ? "" : ':' + std::to_string(row->line);
    answer.solution = row->solution;
    answer.refused = usable.reason();
    answer.time_ms = row->time_ms();
    answer.default_ms = row->default_ms();
  }
  return answer;
}

}  // namespace

Explanation TuningContext::explain(const ProblemKey& problem) {
  Explanation told;
  Notices notices;  // of files that are opened for it
  const bool is_asked = is_active();
  const Device device = problem.header().device();
  const KeyText key = key_text(problem);
  const auto usable = [&](const CsvRow* row) {
    const Plan* plan = nullptr;
    return row == nullptr ? Status::ok()
                          : plan_of(problem, row->solution, &plan);
  };
  {
    const std::lock_guard lock(mutex_);
    hear(told, is_asked, overlay_answer(problem), /*has_last_word=*/true);

    const ResultsFile& file = open_file(device, notices);
    const CsvRow* const own = file.find(key);
    hear(told, is_asked,
         answer_of(Tier::kResultsFile, file.active_path(), own, usable(own)),
         /*has_last_word=*/true);

    const ResultsFile& cache = open_cache(device, notices);
    const CsvRow* const kept = cache.find(key);
    hear(told, is_asked,
         answer_of(Tier::kPersonalCache,
                   cache_.folder().empty() ? "TUNEDOPS_CACHE_DIR is empty"
                                           : cache.path(),
                   kept, usable(kept)));

    const Database::Row* const shipped = database_row(device, key, notices);
    const std::string folder = settings_.get("DATABASE_DIR");
    const Plan* plan = nullptr;
    hear(told, is_asked,
         shipped == nullptr
             ? TierAnswer{.tier = std::string(name_of(Tier::kDatabase)),
                          .place = folder.empty()
                                       ? "TUNEDOPS_DATABASE_DIR is empty"
                                       : folder + '/' +
                                             file_name_of(
                                                 backend(device).device_name(
                                                     device))}
             : answer_of(Tier::kDatabase, shipped->path, &shipped->row,
                         check_row(problem, *shipped, &plan)));
  }
  if (told.decided_by.empty() && is_asked) {
    told.decided_by = name_of(Tier::kMiss);
    explain_miss(problem, told);
  } else if (told.decided_by.empty()) {
    told.decided_by = "nobody";
    told.solution = kDefaultKernel;
    told.note = "lookups are off; enable() or a block switches them on";
  }
  told.kernels = refusals(problem);
  say(notices);
  return told;
}

// The caller holds the lock.
TierAnswer TuningContext::overlay_answer(const ProblemKey& problem) {
  const std::uint32_t overlay = ThreadState::current().overlay;
  TierAnswer answer{.tier = std::string(name_of(Tier::kOverlay)),
                    .place = overlay == 0            ? "no block here"
                             : replayed() != nullptr ? "replay_only()"
                                                     : "a block"};
  bool is_forced = false;
  const std::string* const solution = overlays_.find(
      overlay, problem.header().device(), key_text(problem), &is_forced);
  if (solution != nullptr) {
    const Plan* plan = nullptr;
    answer.place = is_forced ? "force()" : "results of a block";
    answer.solution = *solution;
    answer.refused = plan_of(problem, *solution, &plan).reason();
  }
  return answer;
}

// What a miss leads to, on this thread.
void TuningContext::explain_miss(const ProblemKey& problem, Explanation& told) {
  if (tuning_left_ms(problem) > 0) {
    told.note = "the next call tunes it";
    return;
  }
  const std::lock_guard lock(mutex_);
  const Replay* const replay = replayed();
  const std::string said_by =
      replay != nullptr && replay->on_miss ? "replay_only" : "ON_MISS";
  const Plan* plan = nullptr;
  switch (miss_policy()) {
  case OnMiss::kError:
    told.note = "an error, as " + said_by + " says";
    return;
  case OnMiss::kHeuristic:
    plan = heuristic_plan(problem);
    told.note = "by a kernel's heuristic, as " + said_by + " says";
    break;
  case OnMiss::kDefault:
    told.note = "as " + said_by + " says";
    break;
  }
  told.solution =
      plan == nullptr ? std::string(kDefaultKernel) : plans_.solution_of(*plan);
}

}  // namespace tunedops
