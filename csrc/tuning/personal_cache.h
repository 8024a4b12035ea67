#pragma once

// Results that a person keeps for all of his programs: a folder of his own with
// one results file for each environment, which its name tells, so that a new
// version of a library begins a new file and the old one serves who still has
// the old. Written only by who says so; products read it.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuning/device.h"
#include "tuning/results_file.h"
#include "tuning/status.h"

namespace tunedops {

/// Not thread-safe: the context's lock guards it.
class PersonalCache {
 public:
  /// Empty: there is no cache. What was read from another one is forgotten.
  void set_folder(const std::string& folder);
  const std::string& folder() const { return folder_; }

  /// The file of devices of a name, in an environment.
  std::string path(const std::string& device_name,
                   const Validators& validators) const;

  /// The file of a device if it has been opened, else null.
  const ResultsFile* find(Device device) const;
  const ResultsFile& open(Device device, const std::string& device_name,
                          const Validators& validators, Notices& notices);

  /// Puts rows into a file of a cache, which is read anew before. Needs no
  /// lock: what is open does not know of it.
  static Status save(const std::string& path, const Validators& validators,
                     std::vector<CsvRow> rows, Notices& notices);

  /// Forgets what was read.
  void clear() { files_.clear(); }

 private:
  std::string given_;
  std::string folder_;
  std::map<Device, std::unique_ptr<ResultsFile>> files_;
};

}  // namespace tunedops
