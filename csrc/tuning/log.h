#pragma once

// Where words to the user go. Warnings go to a handler (the Python package
// makes them Python warnings) and each is said once; verbose lines go to the
// stream that TUNEDOPS_VERBOSE_FILENAME names. The handler may run Python, so
// nothing here may be called while a lock is held.

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_set>

namespace tunedops {

enum class Verbosity : int { kResults = 1, kTuning = 2, kTrace = 3 };

class Log {
 public:
  using WarningHandler = std::function<void(const std::string&)>;

  /// The default writes to standard error.
  void set_warning_handler(WarningHandler handler);

  /// Says `message` unless it was said before.
  void warn(const std::string& message);

  /// `err`, `out`, or a file that is appended to.
  void set_destination(const std::string& destination);
  void set_level(int level) { level_ = level; }
  bool shows(Verbosity level) const {
    return static_cast<int>(level) <= level_;
  }
  void write(Verbosity level, const std::string& line);

 private:
  std::mutex mutex_;
  WarningHandler handler_;
  std::unordered_set<std::string> said_;
  std::string destination_ = "err";
  std::atomic<int> level_{0};
};

}  // namespace tunedops
