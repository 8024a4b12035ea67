// What is wrong with a results file: said with line numbers, of a file in use
// once, of any file on request.

#include "tuning/tuning_context.h"

namespace tunedops {

// Rows whose key no op understands are never found; say so once, with lines.
void TuningContext::check_rows(Device device, const std::string& path,
                               const std::vector<CsvRow>& rows,
                               Notices& notices) const {
  constexpr std::size_t kMaxNotices = 20;
  std::size_t count = 0;
  for (const CsvRow& row : rows) {
    if (row.line == 0 || parse_key(row.key, device)) {
      continue;
    }
    if (++count <= kMaxNotices) {
      notices.push_back(path + ':' + std::to_string(row.line) + ": '" +
                        row.key.op + ',' + row.key.params +
                        "' is not a problem of this device and is ignored");
    }
  }
}

std::vector<std::string> TuningContext::check_file(Device device,
                                                   const std::string& path) {
  Notices notices;
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
  if (const auto mismatch = validators(device).mismatch(document.validators)) {
    notices.push_back(path + ": " + *mismatch);
  }
  report_complaints(path, document, notices);
  check_rows(device, path, document.rows, notices);
  const std::lock_guard lock(mutex_);
  for (const CsvRow& row : document.rows) {
    const auto problem = parse_key(row.key, device);
    const Plan* plan = nullptr;
    if (!row.extra.empty() && !row.extra[0].empty() && !row.time_ms()) {
      notices.push_back(path + ':' + std::to_string(row.line) + ": time '" +
                        row.extra[0] + "' is no number of milliseconds");
    }
    if (!problem) {
      continue;
    }
    if (const Status usable = plan_of(*problem, row.solution, &plan);
        !usable.is_ok()) {
      notices.push_back(path + ':' + std::to_string(row.line) + ": solution '" +
                        row.solution + "' cannot be used: " + usable.reason());
    }
  }
  return notices;
}

}  // namespace tunedops
