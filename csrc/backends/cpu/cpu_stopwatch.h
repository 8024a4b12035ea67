#pragma once

// Wall-clock time around synchronous calls. Calls of a few microseconds are
// timed in batches (see resolution_ms), since reading the clock costs as much
// as a hundredth of them.

#include "backends/cpu/processor_share.h"
#include "tuning/stopwatch.h"

namespace tunedops::cpu {

class CpuStopwatch final : public Stopwatch {
 public:
  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override;
  std::string_view name() const override { return "clock"; }
  double resolution_ms() const override { return 0.02; }
  bool sees_single_runs() const override { return true; }
  double waited_share() const override { return share_.waited(); }
  double now_ms() override;

 private:
  ProcessorShare share_;
};

}  // namespace tunedops::cpu
