#pragma once

// Products that had no result, for tuning later: one `op,params` line each, as
// TunableOp writes them, no line twice.

#include <set>
#include <string>

#include "tuning/op_definition.h"
#include "tuning/results_file.h"

namespace tunedops {

class UntunedFile {
 public:
  /// Appends the key to the file unless this process did before or the file
  /// has it already.
  void record(const std::string& path, const KeyText& key, Notices& notices);

 private:
  void learn(const std::string& path);

  std::set<std::string> recorded_;  // path and line
  bool lock_is_kept_ = false;       // somebody did not give it back in time
  std::set<std::string> learned_;   // paths whose lines are known
  std::set<std::string> unended_;   // paths whose last line had no end
};

}  // namespace tunedops
