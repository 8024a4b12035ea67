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
#include "tuning/row_fields.h"
#include "tuning/validators.h"

namespace tunedops {

struct CsvRow {
  KeyText key;
  std::string solution;
  std::vector<std::string> extra;     // as written; see the accessors
  std::vector<std::string> comments;  // the lines above it, kept with it
  std::size_t line = 0;               // in the file it was read from
  bool won_here = false;              // tuned by this process

  /// The fields behind the solution, in their order; nothing if one is not
  /// there or not understood. What others add behind them is kept.
  std::optional<double> time_ms() const { return get(0, parse_milliseconds); }
  std::optional<double> default_ms() const {
    return get(1, parse_milliseconds);
  }
  std::optional<std::string> timing() const { return get(2, parse_word); }
  std::optional<int> samples() const { return get(3, parse_count); }
  std::optional<double> spread() const { return get(4, parse_share); }
  std::optional<double> margin() const { return get(5, parse_share); }
  std::optional<std::string> date() const { return get(6, parse_day); }

 private:
  template <class Value>
  std::optional<Value>
  get(std::size_t index,
      std::optional<Value> (*parse)(std::string_view)) const {
    return index < extra.size() ? parse(extra[index]) : std::nullopt;
  }
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

}  // namespace tunedops
