#pragma once

// The one object behind everything: it owns ops, kernels, backends, settings,
// results and plans, and answers the one question of a call: which plan?
//
// A hit is answered from the calling thread's cache. A miss goes through the
// tiers in context_resolve.cpp; how it tunes is in context_tune.cpp. No lock is
// held while a kernel is measured, a warning is said or Python runs.

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tuning/backend.h"
#include "tuning/database.h"
#include "tuning/explanation.h"
#include "tuning/kernel_registry.h"
#include "tuning/log.h"
#include "tuning/op_definition.h"
#include "tuning/overlays.h"
#include "tuning/pace.h"
#include "tuning/personal_cache.h"
#include "tuning/plan_cache.h"
#include "tuning/plan_store.h"
#include "tuning/results_store.h"
#include "tuning/settings.h"
#include "tuning/thread_state.h"
#include "tuning/tier.h"
#include "tuning/tuner.h"
#include "tuning/untuned_file.h"
#include "tuning/visibility.h"

namespace tunedops {

/// What an explicit tuning may want otherwise than the settings have it.
struct TuneOptions {
  std::optional<Search> search = std::nullopt;
  std::optional<double> budget_ms = std::nullopt;
  std::vector<std::string> kernels = {};  // that may compete, if any is named
};

class TUNEDOPS_PUBLIC TuningContext {
 public:
  using ValidatorGetter = std::function<std::string(Device)>;

  explicit TuningContext(const Settings::Environment& environment);
  TuningContext(const TuningContext&) = delete;
  TuningContext& operator=(const TuningContext&) = delete;

  // --- What may compete -----------------------------------------------------

  KernelRegistry& kernels() { return kernels_; }
  const KernelRegistry& kernels() const { return kernels_; }
  void register_op(std::unique_ptr<OpDefinition> op);
  void register_backend(DeviceType type, std::unique_ptr<Backend> backend);
  /// Adds to the backend's validators. Before the first product.
  void add_validator(DeviceType type, std::string key, ValidatorGetter get);

  // --- One call -------------------------------------------------------------

  /// The lower bits of a call's note are the op layer's, the others say who
  /// decided.
  static constexpr int kNoteBits = 8;
  static Tier tier_of_note(std::uint32_t note) {
    return static_cast<Tier>(note >> kNoteBits);
  }

  /// Whether products of this thread should ask `plan_for` at all. Finds out
  /// which overlay governs it, first.
  bool is_active(ThreadState& thread) const {
    const std::uint32_t switches = switches_.load(std::memory_order_relaxed);
    if (switches > kEnabled || thread.overlay != 0) [[unlikely]] {
      find_overlay(thread, switches);
    }
    return ((switches & kEnabled) != 0 || thread.overlay != 0) &&
           !thread.originals_only;
  }
  bool is_active() const { return is_active(ThreadState::current()); }

  /// What the thread remembers of a call of `count` words; null if nothing.
  const CallCache::Entry* known(const CallKey& call, std::size_t count,
                                const ThreadState& thread) const {
    const CallCache* const calls = thread.calls;
    if (calls == nullptr ||
        calls->epoch() != epoch_.load(std::memory_order_acquire)) [[unlikely]] {
      return nullptr;
    }
    return calls->find(
        call.hash(count), thread.overlay,
        [&](const CallKey& other) { return call.begins_like(other, count); });
  }

  /// The plan to run, or null for torch's original.
  const Plan* plan_for(const ProblemKey& problem, Stream stream) {
    (void)is_active();  // for the overlay
    const ProblemCache::Entry* const entry = known(problem);
    return entry != nullptr ? entry->plan : resolve(problem, stream);
  }

  /// Remembers for a call what has been decided on its problem, with `note` (of
  /// kNoteBits) beside it and who decided; nothing if that was for once only.
  void remember(const CallKey& call, std::size_t count,
                const ProblemKey& problem, std::uint32_t note) {
    const ProblemCache::Entry* const entry = known(problem);
    if (entry != nullptr &&
        known(call, count, ThreadState::current()) == nullptr) {
      ThreadCaches& caches = ThreadCaches::current();
      caches.calls.insert(call, call.hash(count), entry->overlay, entry->plan,
                          caches.problems.epoch(),
                          note | entry->note << kNoteBits);
    }
  }

  /// A plan could not run; Default ran instead. Said once.
  void report_failed_run(const ProblemKey& problem, const Status& status);
  /// Nor can Default: the plan may have written where it reads.
  [[noreturn]] void throw_failed_run(const ProblemKey& problem,
                                     const Status& status) const;

  // --- Switches -------------------------------------------------------------

  std::string setting(const std::string& name);
  /// Throws std::invalid_argument for a value that does not fit; warns once if
  /// the environment has set another one.
  void set_setting(const std::string& name, const std::string& value);
  std::vector<Settings::Description> describe_settings();
  bool enabled() const {
    return (switches_.load(std::memory_order_relaxed) & kEnabled) != 0;
  }

  // --- Results --------------------------------------------------------------

  void set_filename(const std::string& name, bool insert_device_ordinal);
  /// The path in use, or to be used, for a device.
  std::string filename(Device device);
  /// Reads a file into the results of a device (the device's own by default).
  bool read_file(Device device, const std::optional<std::string>& path);
  /// Writes the results of all devices used so far, or of one to `path`.
  bool write_file();
  bool write_file(Device device, const std::string& path);
  void set_write_file_on_exit(bool value) { write_on_exit_ = value; }
  void on_exit();
  std::vector<CsvRow> results(Device device);
  Validators validators(Device device) const;
  bool erase(Device device, const KeyText& key);
  /// Forgets results, plans' choices and pace in memory; files stay.
  void clear();

  // --- Results beside the file
  // ------------------------------------------------

  /// Rows into the personal cache; returns the path of its file. Throws
  /// std::runtime_error if they cannot be saved there.
  std::string save_to_cache(Device device, std::vector<CsvRow> rows);
  /// What the cache has for a device, as it is on disk.
  std::vector<CsvRow> cached(Device device);
  /// Deletes the file of a device there. Throws std::runtime_error if it
  /// cannot.
  void clear_cache(Device device);
  /// The path of a device's file there; empty if there is no cache.
  std::string cache_filename(Device device);
  /// Where a default of DATABASE_DIR comes from.
  void set_packaged_databases(const std::string& folder);

  // --- Explicit tuning ------------------------------------------------------

  /// Makes what a problem has to be measured in, for as long as it lives.
  using Surroundings = std::function<std::shared_ptr<void>()>;

  /// Tunes whatever the switches say, keeps the result, and appends it to the
  /// file if `persist`. A stored result is measured anew. The surroundings are
  /// made once nobody else tunes.
  TuneOutcome tune(const ProblemKey& problem, Stream stream, bool persist,
                   const Surroundings& surroundings = {});
  /// Whether this is a child of the process that made the context: it does not
  /// tune.
  bool is_forked() const;
  /// Why a solution, in text, cannot be used for a problem; empty if it can.
  std::string unusable(const ProblemKey& problem, const std::string& solution);
  std::optional<ProblemKey> parse_key(const KeyText& key, Device device) const;
  KeyText key_text(const ProblemKey& problem) const;
  std::optional<CsvRow> stored(const ProblemKey& problem);
  /// The first row that decides: of the file, the personal cache or the
  /// database; nothing if none does.
  std::optional<CsvRow> stored_anywhere(const ProblemKey& problem);
  /// The solution that a plan is of, as text; Default for null.
  std::string solution_of(const Plan* plan);
  /// Who decides on a problem now, on this thread, and what the others say.
  Explanation explain(const ProblemKey& problem);
  /// The same, but nothing is kept.
  TuneOutcome measure(const ProblemKey& problem, Stream stream,
                      const TuneOptions& options,
                      const Surroundings& surroundings = {});
  /// Per kernel of the op: `` or the reason why it refuses.
  std::vector<std::pair<std::string, std::string>>
  refusals(const ProblemKey& problem) const;
  /// What tuning would let compete, by name: Default first, then each kernel's
  /// in its own order of preference. Empty if Default cannot run the problem.
  std::vector<std::string> competitors(const ProblemKey& problem) const;
  /// Sentences about all that would be ignored in a file; empty: accepted.
  std::vector<std::string> check_file(Device device, const std::string& path);

  // --- Overlays -------------------------------------------------------------

  /// An overlay under which every product takes `solution` where it can, else
  /// Default. Throws std::invalid_argument if no kernel has that name.
  std::uint32_t forced_overlay(const std::string& solution,
                               std::uint32_t below = 0);
  /// An overlay under which nothing is tuned or written.
  std::uint32_t replay_overlay(const Replay& replay, std::uint32_t below);
  /// A new overlay under which products are noted and take Default.
  std::uint32_t record_overlay(std::uint32_t below);
  /// The problems noted; the overlay is gone then.
  std::vector<ProblemKey> end_record_overlay(std::uint32_t overlay);
  /// Whether this thread is under one that replays.
  bool is_replaying();

  /// Results for overlays, until they are given back; returns their number.
  std::uint32_t add_overlay_results(OverlayResults results);
  void remove_overlay_results(std::uint32_t results);
  /// The overlay of such results that lie on another one, or on none (0).
  std::uint32_t lay_overlay(std::uint32_t results, std::uint32_t below);

  /// How a thread finds out which overlay governs it: torch carries that to the
  /// threads on which autograd runs a backward pass. Without, it is what
  /// ThreadState says. Before the first block begins.
  void set_overlay_source(std::uint32_t (*overlay_of_thread)()) {
    overlay_of_thread_ = overlay_of_thread;
  }
  /// That a block with an overlay begins or ends, on any thread: the source is
  /// asked only meanwhile.
  void overlay_begins() { switches_ += kOverlay; }
  void overlay_ends() { switches_ -= kOverlay; }

  // --- Fork -----------------------------------------------------------------

  /// For pthread_atfork: a child must not inherit a lock that nobody in it can
  /// release.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

  Log& log() { return log_; }
  const Backend& backend(Device device) const;
  bool has_backend(DeviceType type) const;

 private:
  struct Decision {
    const Plan* plan = nullptr;
    bool lasting = true;  // may be cached
    Tier tier = Tier::kMiss;
  };

  // One word, since each call reads it: whether products are looked up, and the
  // number of blocks that have an overlay.
  static constexpr std::uint32_t kEnabled = 1;
  static constexpr std::uint32_t kOverlay = 2;

  const OpDefinition& op(OpId id) const;
  const OpDefinition* find_op(OpId id) const;
  void find_overlay(ThreadState& thread, std::uint32_t switches) const;
  ResultsFile& open_file(Device device, Notices& notices);
  const ResultsFile& open_cache(Device device, Notices& notices);
  const Database::Row* database_row(Device device, const KeyText& key,
                                    Notices& notices);
  Status check_row(const ProblemKey& problem, const Database::Row& row,
                   const Plan** plan);
  const Replay* replayed() const;
  OnMiss miss_policy() const;
  TierAnswer overlay_answer(const ProblemKey& problem);
  void explain_miss(const ProblemKey& problem, Explanation& told);
  const Plan* heuristic_plan(const ProblemKey& problem);
  void apply_settings();
  void raise_epoch();
  bool refuses_to_write();
  std::string why_read_only();
  void say(const Notices& notices);
  void tell_of_disturbed(Notices& notices);

  const ProblemCache::Entry* known(const ProblemKey& problem) const {
    const ProblemCache& cache = ThreadCaches::current().problems;
    if (cache.epoch() != epoch_.load(std::memory_order_acquire)) {
      return nullptr;
    }
    return cache.find(problem, ProblemCache::hash_of(problem),
                      ThreadState::current().overlay);
  }
  const Plan* resolve(const ProblemKey& problem, Stream stream);
  Decision decide(const ProblemKey& problem, Stream stream, Notices& notices);
  std::optional<Decision> from_overlay(const ProblemKey& problem,
                                       Notices& notices);
  std::optional<Decision> from_stored(const ProblemKey& problem,
                                      Notices& notices);
  std::optional<Decision> from_results(const ProblemKey& problem,
                                       Notices& notices);
  std::optional<Decision> row_of_file(const ProblemKey& problem,
                                      const KeyText& key, Notices& notices);
  std::optional<Decision> row_of_cache(const ProblemKey& problem,
                                       const KeyText& key, Notices& notices);
  std::optional<Decision> row_of_database(const ProblemKey& problem,
                                          const KeyText& key, Notices& notices);
  std::optional<Decision> from_tuning(const ProblemKey& problem, Stream stream,
                                      Notices& notices);
  double tuning_left_ms(const ProblemKey& problem);
  Decision on_miss(const ProblemKey& problem, Notices& notices);
  void record_untuned(const ProblemKey& problem, Notices& notices);
  Status plan_of(const ProblemKey& problem, const std::string& solution,
                 const Plan** plan);
  Status unknown(const ProblemKey& problem, const std::string& text) const;
  std::vector<CsvDocument::Complaint>
  unknown_keys(Device device, const std::vector<CsvRow>& rows) const;
  void check_rows(Device device, const std::string& path,
                  const std::vector<CsvRow>& rows, Notices& notices) const;

  TunerLimits limits(const TuneOptions& options = {}) const;
  /// `kernels`: that may compete; empty: all.
  std::vector<Candidate>
  candidates(const ProblemKey& problem,
             const std::vector<std::string>& kernels) const;
  std::vector<KernelSpace>
  spaces(const ProblemKey& problem,
         const std::vector<std::string>& kernels) const;
  static bool may_compete(const Kernel& kernel,
                          const std::vector<std::string>& kernels);
  void check_kernel_filter(Notices& notices) const;
  std::atomic<bool>& is_poisoned(DeviceType type) {
    return is_poisoned_[static_cast<std::size_t>(type)];
  }
  TuneOutcome race(const ProblemKey& problem, Stream stream,
                   const TuneOptions& options, double deadline_ms,
                   Notices& notices);
  TuneOutcome run_tuner(const ProblemKey& problem, Stream stream,
                        const TuneOptions& options, double deadline_ms,
                        Notices& notices);
  enum class Keep : std::uint8_t { kNowhere, kInMemory, kInFile };
  TuneOutcome tune_explicitly(const ProblemKey& problem, Stream stream,
                              const TuneOptions& options, Keep keep,
                              const Surroundings& surroundings);
  std::optional<TuneOutcome> tune_within(double left_ms,
                                         const ProblemKey& problem,
                                         Stream stream, Notices& notices);
  void keep(const ProblemKey& problem, const TuneOutcome& outcome, bool persist,
            Notices& notices);
  void trace(const ProblemKey& problem, const TuneOutcome& outcome);
  void trace(const ProblemKey& problem, const Decision& decision);

  // Fixed after registration.
  KernelRegistry kernels_;
  std::vector<std::unique_ptr<OpDefinition>> ops_;
  std::map<DeviceType, std::unique_ptr<Backend>> backends_;
  struct ExtraValidator {
    DeviceType type;
    std::string key;
    ValidatorGetter get;
  };
  std::vector<ExtraValidator> extra_validators_;
  int process_;

  Log log_;
  std::atomic<std::uint32_t> switches_{0};
  std::atomic<std::uint32_t (*)()> overlay_of_thread_{nullptr};
  std::atomic<std::uint64_t> epoch_;
  std::atomic<bool> said_complaints_{false};
  std::atomic<bool> write_on_exit_{true};
  // By type: a GPU's failure is no reason not to tune for the CPU.
  std::array<std::atomic<bool>, kDeviceTypes> is_poisoned_{};

  // One tuning at a time: two would disturb each other's measurements.
  std::mutex tuning_mutex_;

  mutable std::mutex mutex_;  // guards all below
  Settings settings_;
  ResultsStore store_;
  PlanStore plans_;
  Pace pace_;
  UntunedFile untuned_;
  Overlays overlays_;
  PersonalCache cache_;
  Database database_;
  bool won_ = false;
  struct Won {
    std::size_t all = 0;
    std::size_t disturbed = 0;
  };
  std::map<Device, Won> won_in_products_;
};

}  // namespace tunedops
