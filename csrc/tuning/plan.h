#pragma once

// A solution prepared for one problem. Everything that can be decided before
// the operands are known is decided here, so that running a plan allocates
// nothing and asks no library for a heuristic.

#include <array>
#include <cstddef>
#include <functional>

#include "tuning/device.h"
#include "tuning/status.h"

namespace tunedops {

inline constexpr std::size_t kMaxOperands = 8;

/// The most counters that a plan may ask for.
inline constexpr std::size_t kMostCounters = 4096;

/// What one run needs: base addresses in the order of the op's operands, and
/// the scalars, whose classes (0, 1, other) are part of the problem.
struct Arguments {
  std::array<void*, kMaxOperands> operands{};
  double alpha = 1.0;
  double beta = 0.0;
  void* workspace = nullptr;
  unsigned* counters = nullptr;
};

/// A run on fixed arguments, ready to be repeated by the stopwatch. Fails like
/// `Plan::run`.
using Launch = std::function<Status()>;

class Plan {
 public:
  explicit Plan(bool takes_tensors = false) : takes_tensors_(takes_tensors) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  virtual ~Plan() = default;

  /// Writes the whole output. If it returns a failure it has written nothing,
  /// and what the output held can still be added to; a run that fails when it
  /// may have written a part throws (a StatusError, if it knows why).
  /// Thread-safe: one plan serves all threads of the process.
  virtual Status run(const Arguments& arguments, Stream stream) const = 0;

  /// The work of `run` as a program would feel it, with the wrapping of raw
  /// pointers (if the implementation needs any) done beforehand, so that it is
  /// not timed. The default repeats `run`.
  virtual Launch bind(const Arguments& arguments, Stream stream) const {
    return [this, arguments, stream] { return run(arguments, stream); };
  }

  virtual std::size_t workspace_bytes() const { return 0; }

  /// Numbers that are zero when a run begins, that no other run uses meanwhile,
  /// and that the run leaves zero: how blocks of a GPU tell which is the last.
  virtual std::size_t counter_count() const { return 0; }

  /// Whether the op layer should call it with the caller's own tensors (it is
  /// one of the layer's own kinds of plan) instead of raw pointers.
  bool takes_tensors() const { return takes_tensors_; }

  /// Kernel launches per run; of two equally fast plans the one with fewer
  /// wins.
  virtual int launches() const { return 1; }

 private:
  bool takes_tensors_;
};

}  // namespace tunedops
