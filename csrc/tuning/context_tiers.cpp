// What is stored for a problem, tier by tier: the results file, the personal
// cache, the database that ships with the package. The file is what its user
// sees and edits, so a row of it decides even if it cannot be used; of the
// others, which nobody looks at, the next is asked then.

#include <filesystem>
#include <stdexcept>

#include "tuning/tuning_context.h"

namespace tunedops {
namespace {

// `path:line: solution '…' of '…'`.
std::string unusable_row(const ResultsFile& file, const CsvRow& row) {
  return file.active_path() + ':' + std::to_string(row.line) + ": solution '" +
         row.solution + "' of '" + row.key.op + ',' + row.key.params + "'";
}

}  // namespace

std::optional<TuningContext::Decision>
TuningContext::from_stored(const ProblemKey& problem, Notices& notices) {
  const KeyText key = key_text(problem);
  const std::lock_guard lock(mutex_);
  if (const auto found = row_of_file(problem, key, notices)) {
    return found;
  }
  if (const auto kept = row_of_cache(problem, key, notices)) {
    return kept;
  }
  return row_of_database(problem, key, notices);
}

std::optional<TuningContext::Decision>
TuningContext::from_results(const ProblemKey& problem, Notices& notices) {
  const KeyText key = key_text(problem);
  const std::lock_guard lock(mutex_);
  return row_of_file(problem, key, notices);
}

// The callers of these hold the lock.

std::optional<TuningContext::Decision>
TuningContext::row_of_file(const ProblemKey& problem, const KeyText& key,
                           Notices& notices) {
  ResultsFile& file = open_file(problem.header().device(), notices);
  const CsvRow* row = file.find(key);
  if (row == nullptr) {
    return std::nullopt;
  }
  Decision decision;
  decision.tier = row->won_here ? Tier::kTunedHere : Tier::kResultsFile;
  const Status usable = plan_of(problem, row->solution, &decision.plan);
  if (!usable.is_ok()) {
    notices.push_back(unusable_row(file, *row) +
                      " cannot be used and means Default: " + usable.reason());
  }
  return decision;
}

std::optional<TuningContext::Decision>
TuningContext::row_of_cache(const ProblemKey& problem, const KeyText& key,
                            Notices& notices) {
  const ResultsFile& file = open_cache(problem.header().device(), notices);
  const CsvRow* row = file.find(key);
  if (row == nullptr) {
    return std::nullopt;
  }
  Decision decision{.tier = Tier::kPersonalCache};
  const Status usable = plan_of(problem, row->solution, &decision.plan);
  if (usable.is_ok()) {
    return decision;
  }
  notices.push_back(unusable_row(file, *row) +
                    " cannot be used and is left out: " + usable.reason());
  return std::nullopt;
}

// Nothing is said of a row that does not fit: the user did not write it.
std::optional<TuningContext::Decision>
TuningContext::row_of_database(const ProblemKey& problem, const KeyText& key,
                               Notices& notices) {
  const Database::Row* const found =
      database_row(problem.header().device(), key, notices);
  Decision decision{.tier = Tier::kDatabase};
  return found != nullptr && check_row(problem, *found, &decision.plan).is_ok()
             ? std::make_optional(decision)
             : std::nullopt;
}

const ResultsFile& TuningContext::open_cache(Device device, Notices& notices) {
  if (const ResultsFile* const file = cache_.find(device)) {
    return *file;
  }
  const ResultsFile& file = cache_.open(
      device, backend(device).device_name(device), validators(device), notices);
  check_rows(device, file.active_path(), file.listed(), notices);
  return file;
}

const Database::Row* TuningContext::database_row(Device device,
                                                 const KeyText& key,
                                                 Notices& notices) {
  if (!database_.is_open(device)) {
    database_.open(device, backend(device).device_name(device),
                   validators(device), notices);
  }
  return database_.find(device, key);
}

Status TuningContext::check_row(const ProblemKey& problem,
                                const Database::Row& row, const Plan** plan) {
  const ProblemHeader header = problem.header();
  const Kernel* const kernel =
      kernels_.named_in(header.op, header.device_type, row.row.solution);
  if (kernel != nullptr) {
    const std::string then = kernel->revision(*row.validators);
    const std::string now = kernel->revision(validators(header.device()));
    if (then != now) {
      return Status::unsupported("it was measured with " + then +
                                 ", and here is " + now);
    }
  }
  return plan_of(problem, row.row.solution, plan);
}

std::string TuningContext::solution_of(const Plan* plan) {
  const std::lock_guard lock(mutex_);
  return plan == nullptr ? std::string(kDefaultKernel)
                         : plans_.solution_of(*plan);
}

// --- For whoever asks --------------------------------------------------------

std::optional<CsvRow> TuningContext::stored(const ProblemKey& problem) {
  Notices notices;
  std::optional<CsvRow> row;
  const KeyText key = key_text(problem);
  {
    const std::lock_guard lock(mutex_);
    if (const CsvRow* found =
            open_file(problem.header().device(), notices).find(key)) {
      row = *found;
    }
  }
  say(notices);
  return row;
}

std::optional<CsvRow>
TuningContext::stored_anywhere(const ProblemKey& problem) {
  if (auto row = stored(problem)) {
    return row;
  }
  Notices notices;
  std::optional<CsvRow> row;
  const Device device = problem.header().device();
  const KeyText key = key_text(problem);
  {
    const std::lock_guard lock(mutex_);
    const Plan* plan = nullptr;
    const CsvRow* const kept = open_cache(device, notices).find(key);
    if (kept != nullptr && plan_of(problem, kept->solution, &plan).is_ok()) {
      row = *kept;
    } else if (const auto* shipped = database_row(device, key, notices);
               shipped != nullptr &&
               check_row(problem, *shipped, &plan).is_ok()) {
      row = shipped->row;
    }
  }
  say(notices);
  return row;
}

std::string TuningContext::save_to_cache(Device device,
                                         std::vector<CsvRow> rows) {
  if (const std::string reason = why_read_only(); !reason.empty()) {
    throw std::runtime_error("save: " + reason);
  }
  const std::string path = cache_filename(device);
  if (path.empty()) {
    throw std::runtime_error(
        "save: TUNEDOPS_CACHE_DIR is empty, so there is no "
        "personal cache");
  }
  Notices notices;
  // Without the lock: another process may hold the file's for seconds.
  const Status saved =
      PersonalCache::save(path, validators(device), std::move(rows), notices);
  if (saved.is_ok()) {
    const std::lock_guard lock(mutex_);
    cache_.clear();  // devices of one name share a file
    raise_epoch();
  }
  say(notices);
  if (!saved.is_ok()) {
    throw std::runtime_error("save: " + saved.reason());
  }
  return path;
}

std::vector<CsvRow> TuningContext::cached(Device device) {
  const std::string path = cache_filename(device);
  if (path.empty() || !stamp_of(path).exists()) {
    return {};
  }
  Notices notices;
  ResultsFile file(path, validators(device));
  file.load(notices, /*exact=*/true);
  say(notices);
  return file.listed();
}

void TuningContext::clear_cache(Device device) {
  if (const std::string reason = why_read_only(); !reason.empty()) {
    throw std::runtime_error("clear: " + reason);
  }
  const std::string path = cache_filename(device);
  const std::lock_guard lock(mutex_);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    throw std::runtime_error("clear: cannot delete '" + path +
                             "': " + error.message());
  }
  cache_.clear();
  raise_epoch();
}

std::string TuningContext::cache_filename(Device device) {
  const std::lock_guard lock(mutex_);
  return cache_.folder().empty()
             ? std::string()
             : cache_.path(backend(device).device_name(device),
                           validators(device));
}

void TuningContext::set_packaged_databases(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  settings_.set_standard("DATABASE_DIR", folder);
  apply_settings();
}

}  // namespace tunedops
