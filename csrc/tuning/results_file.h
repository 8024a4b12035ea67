#pragma once

// The results of one device in memory, and the file that they come from and go
// to. The file is shared: other processes append to it and people edit it, so
// nothing is ever written without looking at what is there, and what somebody
// else changed since we read it beats what we hold. A file of another
// environment is never touched; ours is then kept beside it, under a name that
// this environment finds again.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuning/file_io.h"
#include "tuning/results_csv.h"
#include "tuning/validators.h"

namespace tunedops {

/// Sentences for the user, collected while a lock is held and said after.
using Notices = std::vector<std::string>;

class ResultsFile {
 public:
  ResultsFile(std::string path, Validators validators);

  /// The name asked for, and the one in use (it differs when the first belongs
  /// to another environment).
  const std::string& path() const { return path_; }
  const std::string& active_path() const { return active_path_; }
  std::string path_beside() const;

  /// Reads the file and takes its rows over those in memory. Returns whether
  /// it was accepted; a file that does not exist is. With `exact`, the file
  /// must be this one and none beside it.
  bool load(Notices& notices, bool exact = false);

  const CsvRow* find(const KeyText& key) const;
  const std::map<KeyText, CsvRow>& rows() const { return rows_; }
  /// The same without their keys, which are in the rows too.
  std::vector<CsvRow> listed() const;

  /// Keeps a result in memory, and in the file at once if `persist`. Returns
  /// whether rows that others changed were taken over on that occasion.
  bool put(CsvRow row, bool persist, Notices& notices);
  bool erase(const KeyText& key) { return rows_.erase(key) > 0; }
  /// Forgets the rows in memory; the file keeps its own.
  void clear();

  /// Merges with the file and replaces it. Returns whether the file now holds
  /// what memory holds. `adopted` (if given) tells whether rows that others
  /// changed were taken over.
  bool save(Notices& notices, bool* adopted = nullptr);

  /// Writes the rows, validators first, to another file: its own rows stay
  /// unless memory has them. It must not belong to another environment.
  bool save_as(const std::string& path, Notices& notices) const;

 private:
  bool accept(const CsvDocument& document, Notices& notices);
  bool append(const CsvRow& row);
  bool merge_and_replace(Notices& notices, bool* adopted);
  bool move_beside(const std::string& mismatch, Notices& notices,
                   bool* adopted);
  bool merge(CsvDocument& disk);
  void forget_deleted(const CsvDocument& disk);
  void remember(const CsvDocument& disk);

  /// The file behind a name: where it was when this object was made.
  std::string place_of(const std::string& name) const;

  std::string origin_;  // the folder of relative names, with a slash; or empty
  std::string path_;
  std::string active_path_;
  Validators validators_;
  std::map<KeyText, CsvRow> rows_;
  std::map<KeyText, std::string> on_disk_;  // rows as we last saw them there
  FileStamp stamp_;
  bool is_exact_ = false;      // this file and none beside it
  bool lock_is_kept_ = false;  // somebody did not give it back in time
  // Whether a row may be appended: not behind half a line, and not behind a
  // comment, which would become the row's.
  bool ends_in_row_ = false;
};

/// `path:line: text` for every complaint of a document.
void report_complaints(const std::string& path, const CsvDocument& document,
                       Notices& notices);

}  // namespace tunedops
