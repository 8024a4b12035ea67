#pragma once

// The environment that a results file depends on, as key and value. A file is
// accepted when its set equals ours exactly; any difference is explained by
// naming the key and both values.

#include <map>
#include <optional>
#include <string>

#include "tuning/visibility.h"

namespace tunedops {

class TUNEDOPS_PUBLIC Validators {
 public:
  /// Throws std::invalid_argument if the text could not stand in a CSV field.
  void add(const std::string& key, const std::string& value);

  const std::map<std::string, std::string>& entries() const { return entries_; }

  /// Empty if there is no such key.
  std::string value(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? std::string() : found->second;
  }

  /// Nothing if `file` equals this set, else one sentence about the first
  /// difference: which key, the file's value and the current one.
  std::optional<std::string> mismatch(const Validators& file) const;

  /// Eight hexadecimal digits that name this environment in file names.
  std::string digest() const;

  bool operator==(const Validators&) const = default;

 private:
  std::map<std::string, std::string> entries_;
};

}  // namespace tunedops
