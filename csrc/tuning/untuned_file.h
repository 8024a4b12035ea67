#pragma once

// Products that had no result, for tuning later: one `op,params` line each, as
// TunableOp writes them, no line twice.

#include <map>
#include <string>

#include "tuning/op_definition.h"
#include "tuning/results_file.h"
#include "tuning/shared_lines.h"

namespace tunedops {

class UntunedFile {
 public:
  /// Appends the key to the file unless the file has it.
  void record(const std::string& path, const KeyText& key, Notices& notices);

  /// Writes what could not be written when it was met.
  void write_kept(Notices& notices);

 private:
  std::map<std::string, SharedLines> files_;  // by path
};

}  // namespace tunedops
