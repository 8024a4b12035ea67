#pragma once

// Whether this process had to wait for processors that other work held.
// Measurements on a busy machine look sound, because all of them are disturbed
// alike. Linux counts for each thread how long it ran, and how long it was
// ready to run and did not.

#include <filesystem>
#include <map>
#include <string>

namespace tunedops::cpu {

class ProcessorShare {
 public:
  /// From now on, of the threads that a folder tells of which is laid out as
  /// Linux' /proc/self/task.
  explicit ProcessorShare(std::filesystem::path threads = "/proc/self/task");

  /// The share of the time that ready threads waited since this was made; 0
  /// where that is not told, or where they hardly had to run.
  double waited() const;

 private:
  struct Nanoseconds {
    double running = 0;
    double waiting = 0;
  };

  std::map<std::string, Nanoseconds> read() const;

  std::filesystem::path threads_;
  std::map<std::string, Nanoseconds> before_;
};

}  // namespace tunedops::cpu
