// What the context does about overlays: makes them, finds out which of them a
// thread has, and lets it decide before anything that is stored.

#include <stdexcept>

#include "tuning/tuning_context.h"

namespace tunedops {

std::uint32_t TuningContext::forced_overlay(const std::string& solution,
                                            std::uint32_t below) {
  bool known = false;
  for (const auto& op : ops_) {
    for (const auto& [type, backend] : backends_) {
      known = known || kernels_.parse(op->id(), type, solution).has_value();
    }
  }
  if (!known) {
    throw std::invalid_argument("force: there is no solution '" + solution +
                                "'; `doctor` lists the kernels");
  }
  const std::lock_guard lock(mutex_);
  return overlays_.force(solution, below);
}

std::uint32_t TuningContext::replay_overlay(const Replay& replay,
                                            std::uint32_t below) {
  const std::lock_guard lock(mutex_);
  return overlays_.replay(replay, below);
}

std::uint32_t TuningContext::record_overlay(std::uint32_t below) {
  const std::lock_guard lock(mutex_);
  return overlays_.record(below);
}

std::vector<ProblemKey>
TuningContext::end_record_overlay(std::uint32_t overlay) {
  const std::lock_guard lock(mutex_);
  return overlays_.end_record(overlay);
}

// The caller holds the lock.
const Replay* TuningContext::replayed() const {
  const std::uint32_t overlay = ThreadState::current().overlay;
  return overlay == 0 ? nullptr : overlays_.replayed(overlay);
}

bool TuningContext::is_replaying() {
  (void)is_active();  // for the overlay
  const std::lock_guard lock(mutex_);
  return replayed() != nullptr;
}

std::uint32_t TuningContext::add_overlay_results(OverlayResults results) {
  const std::lock_guard lock(mutex_);
  return overlays_.add(std::move(results));
}

void TuningContext::remove_overlay_results(std::uint32_t results) {
  const std::lock_guard lock(mutex_);
  overlays_.remove(results);
}

std::uint32_t TuningContext::lay_overlay(std::uint32_t results,
                                         std::uint32_t below) {
  const std::lock_guard lock(mutex_);
  return overlays_.lay(results, below);
}

// Whoever has no source says it in ThreadState. With one, what that says is
// only remembered there, and no block is there any more if none is at all.
void TuningContext::find_overlay(ThreadState& thread,
                                 std::uint32_t switches) const {
  if (auto* const overlay_of_thread = overlay_of_thread_.load()) {
    thread.overlay = switches > kEnabled ? overlay_of_thread() : 0;
  }
}

std::optional<TuningContext::Decision>
TuningContext::from_overlay(const ProblemKey& problem, Notices& notices) {
  const std::uint32_t overlay = ThreadState::current().overlay;
  if (overlay == 0) {
    return std::nullopt;
  }
  const KeyText key = key_text(problem);
  const std::lock_guard lock(mutex_);
  if (overlays_.note(overlay, problem)) {
    return Decision{.tier = Tier::kRecorded};
  }
  bool is_forced = false;
  const std::string* const solution =
      overlays_.find(overlay, problem.header().device(), key, &is_forced);
  if (solution == nullptr) {
    return std::nullopt;
  }
  Decision decision;
  decision.tier = is_forced ? Tier::kForced : Tier::kOverlay;
  const Status usable = plan_of(problem, *solution, &decision.plan);
  // What is forced is meant wherever it fits. Results are of this problem.
  if (!usable.is_ok() && !is_forced) {
    notices.push_back("solution '" + *solution + "' of '" + key.op + ',' +
                      key.params +
                      "', of the results that govern this block, "
                      "cannot be used and means Default: " +
                      usable.reason());
  }
  return decision;
}

}  // namespace tunedops
