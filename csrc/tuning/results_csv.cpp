#include "tuning/results_csv.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tuning/utf8.h"

namespace tunedops {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxFields = 16;  // of which we write ten
constexpr std::size_t kMaxRows = 1'000'000;
constexpr std::size_t kMaxComplaints = 20;
constexpr std::string_view kValidator = "Validator";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

// In a line, tabs are space.
bool is_text(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](unsigned char c) {
    return (c >= 0x20 && c != 0x7f) || c == '\t';
  });
}

std::string_view trimmed(std::string_view text) {
  const std::string_view space = " \t";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = line.find(',', begin);
    fields.emplace_back(trimmed(line.substr(begin, comma - begin)));
    if (comma == std::string_view::npos) {
      return fields;
    }
    begin = comma + 1;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  CsvDocument parse() {
    while (!rest_.empty()) {
      ++line_;
      const std::size_t end = rest_.find('\n');
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size()
                                                        : end + 1);
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      // Editors put one at the beginning of a file, and files get joined.
      while (trimmed(line).starts_with(kByteOrderMark)) {
        line = trimmed(line).substr(kByteOrderMark.size());
      }
      if (trimmed(line).empty()) {
        continue;
      }
      document_.empty = false;
      if (end == std::string_view::npos) {
        set_aside_torn(line);
      } else {
        take(line);
      }
    }
    document_.tail_comments = std::move(pending_);
    return std::move(document_);
  }

 private:
  void complain(std::string text) {
    if (document_.complaints.size() < kMaxComplaints) {
      document_.complaints.push_back({line_, std::move(text)});
    }
  }

  // What is not understood stays in the file, above the row that follows it.
  void keep(std::string_view line, std::string reason) {
    complain(std::move(reason));
    pending_.emplace_back(line);
  }

  void set_aside_torn(std::string_view line) {
    document_.torn = true;
    if (line.size() > kMaxLine || !is_text(line) ||
        trimmed(line).starts_with('#')) {
      pending_.push_back("# (incomplete last line removed)");
    } else {
      pending_.push_back("# incomplete: " + std::string(line));
    }
    complain("the last line does not end and is ignored; if it was written "
             "by hand, end it with a newline");
  }

  void take(std::string_view line) {
    if (line.size() > kMaxLine) {
      complain("is longer than " + std::to_string(kMaxLine) +
               " characters and is dropped");
      return;
    }
    if (!is_text(line)) {
      complain("holds control characters and is dropped");
      return;
    }
    if (trimmed(line).starts_with('#')) {
      pending_.emplace_back(line);
      return;
    }
    if (!is_utf8(line)) {
      keep(line, "holds bytes that are not UTF-8 and is ignored");
      return;
    }
    std::vector<std::string> fields = split(line);
    if (fields[0] == kValidator) {
      take_validator(line, fields);
    } else {
      take_row(line, std::move(fields));
    }
  }

  void take_validator(std::string_view line,
                      const std::vector<std::string>& fields) {
    if (fields.size() != 3 || !is_csv_field(fields[1]) ||
        !is_csv_field(fields[2])) {
      keep("# " + std::string(line), "is not 'Validator,KEY,VALUE'");
      return;
    }
    if (document_.validators.entries().empty()) {
      document_.head_comments = std::move(pending_);
      pending_.clear();
    }
    add_validator(fields[1], fields[2]);
  }

  // Two files one behind the other have rows of two environments, and which
  // are whose is not known: the joint value matches neither.
  void add_validator(const std::string& key, const std::string& value) {
    const auto& entries = document_.validators.entries();
    const auto earlier = entries.find(key);
    if (earlier == entries.end()) {
      document_.validators.add(key, value);
      return;
    }
    if (earlier->second == value) {
      return;
    }
    complain("gives validator '" + key + "' a second value");
    const std::string both = earlier->second + " and " + value;
    document_.validators.add(key, is_csv_field(both) ? both : "several");
  }

  void take_row(std::string_view line, std::vector<std::string> fields) {
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty() ||
        fields[2].empty()) {
      keep(line, "is not 'op,params,solution[,time_ms[,...]]' and is ignored");
      return;
    }
    if (fields.size() > kMaxFields) {
      keep(line, "has more than " + std::to_string(kMaxFields) +
                     " fields and is ignored");
      return;
    }
    if (document_.rows.size() == kMaxRows) {
      complain("is past the " + std::to_string(kMaxRows) +
               " rows that are read");
      return;
    }
    CsvRow row;
    row.key = {std::move(fields[0]), std::move(fields[1])};
    row.solution = std::move(fields[2]);
    row.extra.assign(std::make_move_iterator(fields.begin() + 3),
                     std::make_move_iterator(fields.end()));
    row.comments = std::move(pending_);
    pending_.clear();
    row.line = line_;
    place(std::move(row));
  }

  void place(CsvRow row) {
    const std::string key = row.key.op + ',' + row.key.params;
    const auto [found, is_new] = index_.try_emplace(key, document_.rows.size());
    if (is_new) {
      document_.rows.push_back(std::move(row));
      return;
    }
    CsvRow& earlier = document_.rows[found->second];
    row.comments.insert(row.comments.begin(), earlier.comments.begin(),
                        earlier.comments.end());
    earlier = std::move(row);
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  std::vector<std::string> pending_;  // comments waiting for their row
  std::unordered_map<std::string, std::size_t> index_;
  CsvDocument document_;
};

void append_lines(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
}

}  // namespace

bool is_csv_field(std::string_view text) {
  return !text.empty() && text.size() <= 512 && is_printable(text) &&
         text.find(',') == std::string_view::npos && trimmed(text) == text &&
         text.front() != '#';
}

CsvDocument parse_results(std::string_view text) {
  return Parser(text).parse();
}

std::string format_row(const CsvRow& row) {
  std::string line = row.key.op + ',' + row.key.params + ',' + row.solution;
  for (const std::string& field : row.extra) {
    line += ',' + field;
  }
  return line + '\n';
}

std::string format_results(const CsvDocument& document) {
  std::string text;
  append_lines(text, document.head_comments);
  for (const auto& [key, value] : document.validators.entries()) {
    text += std::string(kValidator) + ',' + key + ',' + value + '\n';
  }
  std::vector<const CsvRow*> sorted;
  for (const CsvRow& row : document.rows) {
    sorted.push_back(&row);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const CsvRow* left, const CsvRow* right) {
              return std::tie(left->key.op, left->key.params) <
                     std::tie(right->key.op, right->key.params);
            });
  for (const CsvRow* row : sorted) {
    append_lines(text, row->comments);
    text += format_row(*row);
  }
  append_lines(text, document.tail_comments);
  return text;
}

}  // namespace tunedops
