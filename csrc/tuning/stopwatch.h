#pragma once

// Measures launches the way their program will feel them. Each backend has its
// own; tests have one with a fake clock.

#include <span>
#include <string_view>

#include "tuning/plan.h"

namespace tunedops {

class Stopwatch {
 public:
  Stopwatch() = default;
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  virtual ~Stopwatch() = default;

  /// Mean milliseconds of one call over `calls` calls, which walk through
  /// `rotation` from `first` on (wrapping), so that operands come from memory
  /// and not from the cache. Fails if a launch does; a reading that cannot be
  /// a duration (zero, negative, not finite) is a failure too.
  virtual Status measure(std::span<const Launch> rotation, std::size_t first,
                         int calls, double& milliseconds) = 0;

  /// A rough reading, no longer than it takes to tell a fast candidate from a
  /// slow one; of those there may be hundreds. Of a rotation that was measured
  /// things may be remembered by its place; one that was only glanced at may
  /// go.
  virtual Status glance(std::span<const Launch> rotation, std::size_t first,
                        double& milliseconds) {
    return measure(rotation, first, 1, milliseconds);
  }
  /// How it measures, in one word, for the record of a result.
  virtual std::string_view name() const = 0;

  /// Below this many milliseconds a single reading is mostly the clock, so the
  /// tuner batches calls.
  virtual double resolution_ms() const = 0;

  /// Whether a run is over when it returns, so that the time around a single
  /// one says how long it took.
  virtual bool sees_single_runs() const { return false; }

  /// For how long hard work must go on until the device's clocks are those of a
  /// program that does not rest; 0 where work does not change them.
  virtual double settling_ms() const { return 0; }

  /// The share of the time since this was made that the program was ready to
  /// run and other work held the processors; 0 where nobody can tell.
  virtual double waited_share() const { return 0; }

  /// A steady wall clock, for budgets.
  virtual double now_ms() = 0;
};

}  // namespace tunedops
