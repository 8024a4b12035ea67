#pragma once

// Results that ship with the package, for devices that somebody tuned on
// beforehand: `<folder>/<device>/*.csv`, results files like any other. A row
// outlives the environment that it was measured in: it needs the same DEVICE
// and the same revision of its own kernel, which is for the context to ask.

#include <map>
#include <memory>
#include <string>

#include "tuning/device.h"
#include "tuning/results_file.h"

namespace tunedops {

/// Not thread-safe: the context's lock guards it.
class Database {
 public:
  struct Row {
    CsvRow row;
    std::string path;
    std::shared_ptr<const Validators> validators;  // of its file
  };

  /// Empty: there is no database. What was read from another one is forgotten.
  void set_folder(const std::string& folder);

  bool is_open(Device device) const { return rows_.contains(device); }
  /// Reads what there is of a device. Of equal keys the last file's row
  /// counts, in the order of the files' names.
  void open(Device device, const std::string& device_name,
            const Validators& here, Notices& notices);
  const Row* find(Device device, const KeyText& key) const;

  /// Forgets what was read.
  void clear() { rows_.clear(); }

 private:
  using Rows = std::map<KeyText, Row>;

  static void read(const std::string& path, const Validators& here, Rows& rows,
                   Notices& notices);

  std::string given_;
  std::string folder_;
  std::map<Device, Rows> rows_;
};

}  // namespace tunedops
