#pragma once

// The outcome of asking a kernel for something. "Unsupported" is an ordinary
// answer (another kernel will do), so it is a value and not an exception;
// exceptions are for bugs. A sticky failure has poisoned the device for the
// whole process, so the tuner must stop instead of trying the next candidate.

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace tunedops {

class [[nodiscard]] Status {
 public:
  enum class Code { kOk, kUnsupported, kFailed, kSticky };

  static Status ok() { return Status(Code::kOk); }
  static Status unsupported(std::string reason) {
    return Status(Code::kUnsupported, std::move(reason));
  }
  static Status failed(std::string reason) {
    return Status(Code::kFailed, std::move(reason));
  }
  static Status sticky(std::string reason) {
    return Status(Code::kSticky, std::move(reason));
  }

  bool is_ok() const { return code_ == Code::kOk; }
  bool is_sticky() const { return code_ == Code::kSticky; }
  Code code() const { return code_; }
  /// Empty if it is ok.
  std::string reason() const {
    return failure_ ? failure_->reason : std::string();
  }
  /// Whether it was an exception: then a part of the work may have been done.
  bool was_thrown() const { return failure_ && failure_->was_thrown; }
  Status as_thrown() const { return Status(code_, reason(), true); }

 private:
  struct Failure {
    std::string reason;
    bool was_thrown = false;
  };

  explicit Status(Code code) : code_(code) {}
  Status(Code code, std::string reason, bool was_thrown = false)
      : code_(code), failure_(std::make_shared<const Failure>(
                         Failure{std::move(reason), was_thrown})) {}

  Code code_;
  // Every run returns a status, so the usual one costs no string.
  std::shared_ptr<const Failure> failure_;
};

/// A failure where none should be, thrown. Where a candidate or a call must not
/// bring the program down it is caught and becomes a Status again.
class StatusError : public std::runtime_error {
 public:
  explicit StatusError(Status status)
      : std::runtime_error("tunedops: " + status.reason()),
        status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

/// What `body` returns, or what it threw as a failure.
template <class Body>
[[gnu::always_inline]] inline Status status_of(const Body& body) {
  try {
    return body();
  } catch (const StatusError& error) {
    return error.status().as_thrown();
  } catch (const std::exception& error) {
    return Status::failed(error.what()).as_thrown();
  }
}

}  // namespace tunedops
