// What is wrong with a results file: said with line numbers, of a file in use
// once, of any file on request.

#include <algorithm>

#include "tuning/key_hint.h"
#include "tuning/tuning_context.h"

namespace tunedops {
namespace {

// What concerns the whole file has line 0.
using Findings = std::vector<CsvDocument::Complaint>;

// As a reader goes through the file.
void sort_by_line(Findings& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& left, const auto& right) {
                     return left.line < right.line;
                   });
}

void report(const std::string& path, const Findings& findings,
            Notices& notices) {
  for (const auto& [line, text] : findings) {
    notices.push_back(path + (line == 0 ? "" : ':' + std::to_string(line)) +
                      ": " + text);
  }
}

}  // namespace

// Rows whose key no op understands: they are never found.
std::vector<CsvDocument::Complaint>
TuningContext::unknown_keys(Device device,
                            const std::vector<CsvRow>& rows) const {
  constexpr std::size_t kMost = 20;
  Findings findings;
  for (const CsvRow& row : rows) {
    if (row.line == 0 || parse_key(row.key, device)) {
      continue;
    }
    const std::string hint = key_hint(row.key, device.type);
    findings.push_back({row.line, "'" + row.key.op + ',' + row.key.params +
                                      "' is not a problem of this device and "
                                      "is ignored" +
                                      (hint.empty() ? "" : ": " + hint)});
  }
  sort_by_line(findings);
  findings.resize(std::min(findings.size(), kMost));
  return findings;
}

void TuningContext::check_rows(Device device, const std::string& path,
                               const std::vector<CsvRow>& rows,
                               Notices& notices) const {
  report(path, unknown_keys(device, rows), notices);
}

std::vector<std::string> TuningContext::check_file(Device device,
                                                   const std::string& path) {
  FileContents contents;
  if (const Status read = read_trusted_file(path, contents); !read.is_ok()) {
    return {read.reason()};
  }
  if (!contents.stamp.exists()) {
    return {"'" + path + "' does not exist"};
  }
  const CsvDocument document = parse_results(contents.text);
  if (document.empty) {
    return {};  // as good as a new file
  }
  Findings findings = document.complaints;
  if (const auto mismatch = validators(device).mismatch(document.validators)) {
    findings.push_back({0, *mismatch});
  }
  const Findings unknown = unknown_keys(device, document.rows);
  findings.insert(findings.end(), unknown.begin(), unknown.end());
  const std::lock_guard lock(mutex_);
  for (const CsvRow& row : document.rows) {
    if (!row.extra.empty() && !row.extra[0].empty() && !row.time_ms()) {
      findings.push_back({row.line, "time '" + row.extra[0] +
                                        "' is no number of milliseconds"});
    }
    const auto problem = parse_key(row.key, device);
    if (!problem) {
      continue;
    }
    const Plan* plan = nullptr;
    if (const Status usable = plan_of(*problem, row.solution, &plan);
        !usable.is_ok()) {
      findings.push_back(
          {row.line, "solution '" + row.solution +
                         "' cannot be used: " + usable.reason()});
    }
  }
  sort_by_line(findings);
  Notices notices;
  report(path, findings, notices);
  return notices;
}

}  // namespace tunedops
