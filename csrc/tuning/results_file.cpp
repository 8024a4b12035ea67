#include "tuning/results_file.h"

#include <filesystem>
#include <utility>

namespace tunedops {

namespace {

// What a relative name begins from: where the program stands now, since it may
// go elsewhere later.
std::string origin_of(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::current_path(error);
  return path.starts_with('/') || error ? std::string()
                                        : (folder / "").string();
}

}  // namespace

ResultsFile::ResultsFile(std::string path, Validators validators)
    : origin_(origin_of(path)), path_(std::move(path)), active_path_(path_),
      validators_(std::move(validators)) {}

// The plain name while the program has not moved: it needs no right to walk
// down to where we are.
std::string ResultsFile::place_of(const std::string& name) const {
  return origin_ == origin_of(name) ? name : origin_ + name;
}

std::string ResultsFile::path_beside() const {
  const SplitName name = split_extension(path_);
  return name.stem + '.' + validators_.digest() + name.extension;
}

void report_complaints(const std::string& path, const CsvDocument& document,
                       Notices& notices) {
  for (const CsvDocument::Complaint& complaint : document.complaints) {
    notices.push_back(path + ':' + std::to_string(complaint.line) + ": " +
                      complaint.text);
  }
}

bool ResultsFile::load(Notices& notices, bool exact) {
  is_exact_ = is_exact_ || exact;
  const std::string beside = path_beside();
  const bool use_beside = !exact && stamp_of(place_of(beside)).exists();
  active_path_ = use_beside ? beside : path_;

  FileContents contents;
  const Status read = read_trusted_file(place_of(active_path_), contents);
  if (!read.is_ok()) {
    notices.push_back("results file is not used: " + read.reason());
    active_path_ = beside;
    return false;
  }
  stamp_ = contents.stamp;
  const CsvDocument document = parse_results(contents.text);
  return document.empty || accept(document, notices);
}

bool ResultsFile::accept(const CsvDocument& document, Notices& notices) {
  if (const auto mismatch = validators_.mismatch(document.validators)) {
    notices.push_back(
        "results file '" + active_path_ + "' is not used: " + *mismatch +
        "; results of this environment are kept in '" + path_beside() + "'");
    active_path_ = path_beside();
    stamp_ = {};
    return false;
  }
  report_complaints(active_path_, document, notices);
  forget_deleted(document);
  remember(document);
  for (const CsvRow& row : document.rows) {
    rows_[row.key] = row;
  }
  return true;
}

// A row that was on disk, and that nobody here has changed since, was deleted
// there.
void ResultsFile::forget_deleted(const CsvDocument& disk) {
  for (const CsvRow& row : disk.rows) {
    on_disk_.erase(row.key);
  }
  for (const auto& [key, line] : on_disk_) {
    const auto held = rows_.find(key);
    if (held != rows_.end() && format_row(held->second) == line) {
      rows_.erase(held);
    }
  }
}

void ResultsFile::remember(const CsvDocument& disk) {
  ends_in_row_ = !disk.torn && disk.tail_comments.empty();
  on_disk_.clear();
  for (const CsvRow& row : disk.rows) {
    on_disk_[row.key] = format_row(row);
  }
}

const CsvRow* ResultsFile::find(const KeyText& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

std::vector<CsvRow> ResultsFile::listed() const {
  std::vector<CsvRow> rows;
  for (const auto& [key, row] : rows_) {
    rows.push_back(row);
  }
  return rows;
}

void ResultsFile::clear() {
  rows_.clear();
  on_disk_.clear();
  stamp_ = {};
}

bool ResultsFile::put(CsvRow row, bool persist, Notices& notices) {
  const KeyText key = row.key;
  if (const CsvRow* earlier = find(key)) {
    row.comments = earlier->comments;
  }
  rows_[key] = std::move(row);
  if (!persist) {
    return false;
  }
  // One wait is enough to learn that somebody keeps the lock.
  const FileLock lock(place_of(active_path_), lock_is_kept_
                                                  ? FileLock::kNoPatience
                                                  : FileLock::kPatience);
  lock_is_kept_ = !lock.status().is_ok();
  if (!lock.status().is_ok()) {
    notices.push_back("a result is not saved: " + lock.status().reason());
    return false;
  }
  bool adopted = false;
  if (!append(rows_[key])) {
    merge_and_replace(notices, &adopted);
  }
  return adopted;
}

// The common case of many wins in a row: nobody touched the file since, and the
// key is new to it, so one write at its end keeps it whole and sorted enough.
bool ResultsFile::append(const CsvRow& row) {
  if (!ends_in_row_ || !stamp_.exists() ||
      stamp_ != stamp_of(place_of(active_path_)) ||
      on_disk_.contains(row.key) || on_disk_.empty()) {
    return false;
  }
  const std::string line = format_row(row);
  if (!append_to_file(place_of(active_path_), line, stamp_).is_ok()) {
    return false;
  }
  on_disk_[row.key] = line;
  return true;
}

bool ResultsFile::save(Notices& notices, bool* adopted) {
  const FileLock lock(place_of(active_path_));
  if (!lock.status().is_ok()) {
    notices.push_back("results are not saved: " + lock.status().reason());
    return false;
  }
  return merge_and_replace(notices, adopted);
}

bool ResultsFile::merge_and_replace(Notices& notices, bool* adopted) {
  FileContents contents;
  const Status read = read_trusted_file(place_of(active_path_), contents);
  if (!read.is_ok()) {
    notices.push_back("results are not saved: " + read.reason());
    return false;
  }
  CsvDocument document = parse_results(contents.text);
  if (document.empty) {
    // Gone or emptied: an accident rather than the deletion of every row.
    document.validators = validators_;
    on_disk_.clear();
  } else if (const auto mismatch = validators_.mismatch(document.validators)) {
    return move_beside(*mismatch, notices, adopted);
  }
  const bool changed = merge(document);
  if (adopted != nullptr) {
    *adopted = changed;
  }
  const std::string text = format_results(document);
  if (text != contents.text) {
    if (Status written = replace_file(place_of(active_path_), text, stamp_);
        !written.is_ok()) {
      notices.push_back("results are not saved: " + written.reason());
      return false;
    }
  } else {
    stamp_ = contents.stamp;
  }
  remember(document);
  return true;
}

// Somebody put a file of another environment where ours was.
bool ResultsFile::move_beside(const std::string& mismatch, Notices& notices,
                              bool* adopted) {
  notices.push_back("results are not saved in '" + active_path_ +
                    "': " + mismatch);
  if (is_exact_ || active_path_ == path_beside()) {
    return false;
  }
  active_path_ = path_beside();
  stamp_ = {};
  on_disk_.clear();
  notices.back() += "; they are kept in '" + active_path_ + "'";
  return save(notices, adopted);
}

// Brings memory and `disk` to the same rows. A row on disk that is not as we
// last saw it, or that we never saw, was changed by somebody else and wins; so
// does a deletion there. Returns whether memory changed.
bool ResultsFile::merge(CsvDocument& disk) {
  bool changed = false;
  std::map<KeyText, CsvRow> merged;
  for (CsvRow& row : disk.rows) {
    const auto seen = on_disk_.find(row.key);
    const bool is_news =
        seen == on_disk_.end() || seen->second != format_row(row);
    const auto held = rows_.find(row.key);
    if (is_news) {
      changed = changed || held == rows_.end() ||
                held->second.solution != row.solution;
      merged[row.key] = row;
    } else if (held != rows_.end()) {
      CsvRow kept = held->second;
      kept.comments = row.comments;
      merged[row.key] = std::move(kept);
    }
  }
  for (const auto& [key, row] : rows_) {
    if (merged.contains(key)) {
      continue;
    }
    const auto seen = on_disk_.find(key);
    if (seen != on_disk_.end() && seen->second == format_row(row)) {
      changed = true;  // somebody deleted it
    } else {
      merged[key] = row;
    }
  }
  rows_ = std::move(merged);
  disk.rows.clear();
  for (const auto& [key, row] : rows_) {
    disk.rows.push_back(row);
  }
  return changed;
}

bool ResultsFile::save_as(const std::string& path, Notices& notices) const {
  ResultsFile other(path, validators_);
  other.is_exact_ = true;
  // Its rows count as seen, so that memory's beat them.
  FileContents contents;
  if (read_trusted_file(path, contents).is_ok()) {
    const CsvDocument document = parse_results(contents.text);
    other.remember(document);
    for (const CsvRow& row : document.rows) {
      other.rows_[row.key] = row;
    }
  }
  for (const auto& [key, row] : rows_) {
    other.rows_[key] = row;
  }
  return other.save(notices);
}

}  // namespace tunedops
