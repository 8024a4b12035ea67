// Hard work lowers the clocks of a device that asks for more power than it may
// have: those of an H200 by a sixth within a tenth of a second, and 20 ms of
// rest bring them back. Kernels lose unequally by that, so whoever is the
// fastest in a tuner that loads kernels and waits between readings need not be
// so in a program that multiplies without a pause. Before such products are
// timed for the decision the device works until its clocks have settled, and
// readings are so long that the gaps between them do not undo it.

#include <algorithm>
#include <cmath>

#include "tuning/race.h"

namespace tunedops {
namespace {

// Multiply-adds for each byte of the operands: with fewer of them a kernel
// waits for memory, which takes little power.
constexpr double kHardWork = 64;

// Shorter calls are mostly their own beginning and end, in which nothing is
// multiplied; longer ones settle the clocks by themselves.
constexpr double kShortMs = 0.02;
constexpr double kLongMs = 2;

// Of the budget, that settling may take.
constexpr double kMostShare = 0.15;

}  // namespace

bool Race::is_hard_work() const {
  double bytes = 0;
  double outputs = 0;
  for (const Operand& operand : op_.operands(problem_)) {
    if (operand.dtype == DType::kNone) {
      continue;
    }
    const double elements = static_cast<double>(operand.batch) *
                            static_cast<double>(operand.outer) *
                            static_cast<double>(operand.inner);
    bytes += elements * static_cast<double>(size_of(operand.dtype));
    outputs += operand.is_output() ? elements : 0;
  }
  return outputs * static_cast<double>(op_.reference_cost(problem_)) >=
         kHardWork * bytes;
}

// Once Default's time is known.
void Race::plan_settling() {
  const double call_ms = racers_.front().measurement.time_ms;
  if (call_ms >= kShortMs && call_ms <= kLongMs && is_hard_work()) {
    settling_ms_ =
        std::min(stopwatch_->settling_ms(), kMostShare * limits_.budget_ms);
  }
}

Status Race::settle() {
  const double end_ms = stopwatch_->now_ms() + settling_ms_;
  while (stopwatch_->now_ms() < end_ms && !out_of_time()) {
    double milliseconds = 0;
    if (Status worked =
            measure(baseline(), calls_per_reading(baseline()), milliseconds);
        !worked.is_ok()) {
      return worked;
    }
  }
  return Status::ok();
}

}  // namespace tunedops
