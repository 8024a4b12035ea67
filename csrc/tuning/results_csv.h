#pragma once

// The grammar of results files, as data in and out. A file may have been
// edited by hand or by an enemy, so reading never throws and never guesses:
// what is not understood is reported with its line number and kept as it was
// written. No file is opened here.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/op_definition.h"
#include "tuning/validators.h"

namespace tunedops {

struct CsvRow {
  KeyText key;
  std::string solution;
  std::vector<std::string> extra;     // time_ms, default_ms, what others add
  std::vector<std::string> comments;  // the lines above it, kept with it
  std::size_t line = 0;               // in the file it was read from
  bool won_here = false;              // tuned by this process

  /// Milliseconds in the fourth and fifth field, if they are there.
  std::optional<double> time_ms() const { return number(0); }
  std::optional<double> default_ms() const { return number(1); }

 private:
  std::optional<double> number(std::size_t index) const;
};

struct CsvDocument {
  struct Complaint {
    std::size_t line = 0;
    std::string text;
  };

  std::vector<std::string> head_comments;
  Validators validators;
  std::vector<CsvRow> rows;  // of equal keys the last one is kept
  std::vector<std::string> tail_comments;
  std::vector<Complaint> complaints;
  bool empty = true;  // nothing but white space
  bool torn = false;  // the last line had no end and was set aside
};

/// No commas, no control characters, not too long, printable.
bool is_csv_field(std::string_view text);

CsvDocument parse_results(std::string_view text);

/// Validators, then rows sorted by key, each below its comments.
std::string format_results(const CsvDocument& document);

/// One line with its end, as format_results writes it (without comments).
std::string format_row(const CsvRow& row);

/// Milliseconds with enough digits to compare and few enough to read.
std::string format_milliseconds(double milliseconds);

}  // namespace tunedops
