#include "tuning/tuning_context.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace tunedops {
namespace {

// Epochs are drawn from one counter, so that a thread's cache never takes one
// context's decisions for another's (tests have many contexts).
std::uint64_t next_epoch() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

TuningContext::TuningContext(const Settings::Environment& environment)
    : process_(::getpid()), epoch_(next_epoch()), settings_(environment) {
  store_.set_filename(settings_.get("FILENAME"), true);
  apply_settings();
}

// --- What may compete -------------------------------------------------------

void TuningContext::register_op(std::unique_ptr<OpDefinition> op) {
  if (find_op(op->id()) != nullptr) {
    throw std::invalid_argument("register_op: the id of '" +
                                std::string(op->name()) + "' is taken");
  }
  ops_.push_back(std::move(op));
}

void TuningContext::register_backend(DeviceType type,
                                     std::unique_ptr<Backend> backend) {
  backends_[type] = std::move(backend);
}

void TuningContext::add_validator(DeviceType type, std::string key,
                                  ValidatorGetter get) {
  extra_validators_.push_back({type, std::move(key), std::move(get)});
}

const OpDefinition* TuningContext::find_op(OpId id) const {
  for (const auto& op : ops_) {
    if (op->id() == id) {
      return op.get();
    }
  }
  return nullptr;
}

const OpDefinition& TuningContext::op(OpId id) const {
  const OpDefinition* found = find_op(id);
  if (found == nullptr) {
    throw std::logic_error("a problem of an op that is not registered");
  }
  return *found;
}

bool TuningContext::has_backend(DeviceType type) const {
  return backends_.contains(type);
}

const Backend& TuningContext::backend(Device device) const {
  const auto found = backends_.find(device.type);
  if (found == backends_.end()) {
    throw std::invalid_argument("this build has no backend for that device");
  }
  return *found->second;
}

// --- Switches ---------------------------------------------------------------

void TuningContext::apply_settings() {
  if (settings_.boolean("ENABLED")) {
    switches_ |= kEnabled;
  } else {
    switches_ &= ~kEnabled;
  }
  log_.set_level(static_cast<int>(settings_.integer("VERBOSE")));
  log_.set_destination(settings_.get("VERBOSE_FILENAME"));
  cache_.set_folder(settings_.get("CACHE_DIR"));
  database_.set_folder(settings_.get("DATABASE_DIR"));
}

void TuningContext::raise_epoch() {
  epoch_.store(next_epoch(), std::memory_order_release);
}

bool TuningContext::is_forked() const { return ::getpid() != process_; }

void TuningContext::say(const Notices& notices) {
  // Not in the constructor: it runs under the guard of a static, and a warning
  // may run Python.
  if (!said_complaints_.exchange(true, std::memory_order_relaxed)) {
    for (const std::string& complaint : settings_.complaints()) {
      log_.warn(complaint);
    }
  }
  for (const std::string& notice : notices) {
    log_.warn(notice);
  }
}

std::string TuningContext::setting(const std::string& name) {
  say({});
  const std::lock_guard lock(mutex_);
  return settings_.get(name);
}

void TuningContext::set_setting(const std::string& name,
                                const std::string& value) {
  if (name == "FILENAME") {
    return set_filename(value, true);  // as the variable's value is taken
  }
  bool taken = false;
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    taken = settings_.set(name, value);
    kept = settings_.get(name);
    apply_settings();
    raise_epoch();
  }
  if (!taken) {
    log_.warn("TUNEDOPS_" + name + "=" + kept +
              " is set in the environment and wins over a call that sets " +
              value);
  }
}

std::vector<Settings::Description> TuningContext::describe_settings() {
  say({});
  const std::lock_guard lock(mutex_);
  return settings_.describe();
}

// --- Results ----------------------------------------------------------------

Validators TuningContext::validators(Device device) const {
  Validators all = backend(device).validators(device);
  for (const ExtraValidator& extra : extra_validators_) {
    if (extra.type == device.type) {
      all.add(extra.key, extra.get(device));
    }
  }
  return all;
}

ResultsFile& TuningContext::open_file(Device device, Notices& notices) {
  if (ResultsFile* file = store_.find(device)) {
    return *file;
  }
  ResultsFile& file = store_.open(device, backend(device).file_tag(device),
                                  validators(device), notices);
  check_rows(device, file.active_path(), file.listed(), notices);
  return file;
}

void TuningContext::set_filename(const std::string& name,
                                 bool insert_device_ordinal) {
  if (name.empty() || name.find('\0') != std::string::npos) {
    throw std::invalid_argument(
        "set_filename: the name is empty or holds a NUL character");
  }
  bool taken = false;
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    taken = settings_.set("FILENAME", name);
    kept = settings_.get("FILENAME");
    if (taken) {
      store_.set_filename(name, insert_device_ordinal);
      raise_epoch();
    }
  }
  if (!taken) {
    log_.warn("TUNEDOPS_FILENAME=" + kept +
              " is set in the environment and wins over set_filename('" + name +
              "')");
  }
}

std::string TuningContext::filename(Device device) {
  Notices notices;
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    const ResultsFile* file = store_.find(device);
    path = file != nullptr
               ? file->active_path()
               : store_.path_for(device, backend(device).file_tag(device),
                                 notices);
  }
  say(notices);
  return path;
}

bool TuningContext::read_file(Device device,
                              const std::optional<std::string>& path) {
  Notices notices;
  bool accepted = false;
  {
    const std::lock_guard lock(mutex_);
    ResultsFile& own = open_file(device, notices);
    if (path) {
      ResultsFile other(*path, validators(device));
      accepted = stamp_of(*path).exists() && other.load(notices, true);
      if (!stamp_of(*path).exists()) {
        notices.push_back("results file '" + *path + "' does not exist");
      }
      for (const auto& [key, row] : other.rows()) {
        own.put(row, false, notices);
      }
      check_rows(device, *path, other.listed(), notices);
    } else {
      accepted = own.load(notices);
    }
    raise_epoch();
  }
  say(notices);
  return accepted;
}

bool TuningContext::refuses_to_write() {
  const std::string reason = why_read_only();
  if (reason.empty()) {
    return false;
  }
  log_.warn("results are not saved: " + reason);
  return true;
}

// Why nothing may be tuned or written by this thread now; empty if it may.
std::string TuningContext::why_read_only() {
  if (setting("READ_ONLY") == "1") {
    return "TUNEDOPS_READ_ONLY is on";
  }
  return is_replaying() ? "this is inside replay_only()" : "";
}

bool TuningContext::write_file() {
  if (refuses_to_write()) {
    return false;
  }
  Notices notices;
  bool all_saved = true;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [device, file] : store_.files()) {
      bool adopted = false;
      all_saved = file->save(notices, &adopted) && all_saved;
      if (adopted) {
        raise_epoch();
      }
    }
  }
  say(notices);
  return all_saved;
}

bool TuningContext::write_file(Device device, const std::string& path) {
  if (refuses_to_write()) {
    return false;
  }
  Notices notices;
  bool saved = false;
  {
    const std::lock_guard lock(mutex_);
    saved = open_file(device, notices).save_as(path, notices);
  }
  say(notices);
  return saved;
}

void TuningContext::on_exit() {
  bool wanted = false;
  Notices notices;
  {
    const std::lock_guard lock(mutex_);
    const bool may_write = !settings_.boolean("READ_ONLY");
    wanted = won_ && write_on_exit_ && !is_forked() && may_write;
    if (may_write) {
      untuned_.write_kept(notices);
    }
  }
  say(notices);
  if (wanted) {
    write_file();
    Notices last;
    tell_of_disturbed(last);
    say(last);
  }
}

// A program that tunes as it goes has nobody who watches, and would use such
// choices for ever. Explicit tuning returns to its caller what was disturbed.
void TuningContext::tell_of_disturbed(Notices& notices) {
  const std::lock_guard lock(mutex_);
  for (const auto& [device, won] : won_in_products_) {
    const ResultsFile* const file = store_.find(device);
    if (won.disturbed == 0 || file == nullptr) {
      continue;
    }
    const std::string& path = file->active_path();
    // A name from elsewhere is the command's too, and -o may not contradict it.
    const bool is_named_here = settings_.origin("FILENAME") == "api";
    notices.push_back(
        std::to_string(won.disturbed) + " of " + std::to_string(won.all) +
        " results were timed while other work held the processors; `python -m "
        "tunedops tune " +
        path + (is_named_here ? " -o " + path : "") +
        (device.type == DeviceType::kCpu
             ? ""
             : " --device cuda:" + std::to_string(device.index)) +
        "` measures them again");
  }
}

std::vector<CsvRow> TuningContext::results(Device device) {
  Notices notices;
  std::vector<CsvRow> rows;
  {
    const std::lock_guard lock(mutex_);
    rows = open_file(device, notices).listed();
  }
  say(notices);
  return rows;
}

bool TuningContext::erase(Device device, const KeyText& key) {
  Notices notices;
  bool erased = false;
  {
    const std::lock_guard lock(mutex_);
    erased = open_file(device, notices).erase(key);
    raise_epoch();
  }
  say(notices);
  return erased;
}

void TuningContext::clear() {
  const std::lock_guard lock(mutex_);
  store_.clear();
  cache_.clear();
  database_.clear();
  pace_ = {};
  won_ = false;
  won_in_products_.clear();
  raise_epoch();
}

// --- Keys as text -----------------------------------------------------------

std::optional<ProblemKey> TuningContext::parse_key(const KeyText& key,
                                                   Device device) const {
  for (const auto& op : ops_) {
    if (auto problem = op->from_text(key, device)) {
      return problem;
    }
  }
  return std::nullopt;
}

KeyText TuningContext::key_text(const ProblemKey& problem) const {
  return op(problem.header().op).to_text(problem);
}

}  // namespace tunedops
