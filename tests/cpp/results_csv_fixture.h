#pragma once

// What the tests of the results grammar look at: complaints as text, and the
// file after a rewrite.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tuning/results_csv.h"

namespace tunedops {

using Lines = std::vector<std::string>;

inline std::vector<std::string> complaints_of(const CsvDocument& document) {
  std::vector<std::string> all;
  for (const CsvDocument::Complaint& complaint : document.complaints) {
    all.push_back(std::to_string(complaint.line) + ": " + complaint.text);
  }
  return all;
}

// The text after a rewrite, which must itself be stable.
inline std::string rewritten(const std::string& text) {
  const std::string once = format_results(parse_results(text));
  EXPECT_EQ(format_results(parse_results(once)), once);
  return once;
}

}  // namespace tunedops
