#include "tuning/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tuning/utf8.h"

namespace tunedops {
namespace {

constexpr std::size_t kMaxRemembered = 4096;

void write_line(int descriptor, std::string line) {
  line += '\n';
  // A lost log line is not worth a failed product.
  [[maybe_unused]] const ssize_t count =
      ::write(descriptor, line.data(), line.size());
}

}  // namespace

void Log::set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void Log::warn(const std::string& text) {
  const std::string message = with_bytes_escaped(text);
  WarningHandler handler;
  {
    const std::lock_guard lock(mutex_);
    if (said_.size() >= kMaxRemembered || !said_.insert(message).second) {
      return;
    }
    handler = handler_;
  }
  if (handler) {
    handler("tunedops: " + message);
  } else {
    write_line(STDERR_FILENO, "tunedops: " + message);
  }
}

void Log::set_destination(const std::string& destination) {
  const std::lock_guard lock(mutex_);
  destination_ = destination;
}

void Log::write(Verbosity level, const std::string& line) {
  if (!shows(level)) {
    return;
  }
  std::string destination;
  {
    const std::lock_guard lock(mutex_);
    destination = destination_;
  }
  if (destination == "err" || destination == "out") {
    write_line(destination == "err" ? STDERR_FILENO : STDOUT_FILENO,
               "tunedops: " + line);
    return;
  }
  const int file = ::open(destination.c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
                              O_CLOEXEC | O_NONBLOCK,
                          0644);
  if (file < 0) {
    const std::string reason = std::strerror(errno);
    set_destination("err");
    warn("cannot write VERBOSE_FILENAME '" + destination + "' (" + reason +
         "); verbose lines go to standard error");
    return;
  }
  write_line(file, line);
  ::close(file);
}

}  // namespace tunedops
