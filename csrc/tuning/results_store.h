#pragma once

// Which results file serves which device, and the files in use. The name comes
// from TUNEDOPS_FILENAME, set_filename() or the default; each device has its
// own file, whichever device is used first.

#include <map>
#include <memory>
#include <string>

#include "tuning/device.h"
#include "tuning/results_file.h"

namespace tunedops {

class ResultsStore {
 public:
  /// `tag` distinguishes a device in the name (`0`, `_cpu`). A name with `%d`
  /// takes the tag there; else, with `insert_tag`, it goes before the
  /// extension; else the name is exact.
  void set_filename(const std::string& name, bool insert_tag);

  /// The path for a device. When an exact name would serve a second device,
  /// that one gets its tag inserted, and a notice says so.
  std::string path_for(Device device, const std::string& tag, Notices& notices);

  /// The file of a device if it has been opened, else null.
  ResultsFile* find(Device device);

  ResultsFile& open(Device device, const std::string& tag,
                    const Validators& validators, Notices& notices);

  std::map<Device, std::unique_ptr<ResultsFile>>& files() { return files_; }

  /// Forgets all results in memory.
  void clear();

 private:
  std::string name_ = "tunedops_results.csv";
  bool insert_tag_ = true;
  std::map<Device, std::string> exact_;  // who has the exact name
  std::map<Device, std::unique_ptr<ResultsFile>> files_;
  std::map<Device, std::vector<CsvRow>> carried_;  // wins of earlier names
};

/// `name` with `tag` in the place of `%d`, or before the extension.
std::string insert_device_tag(const std::string& name, const std::string& tag);

}  // namespace tunedops
