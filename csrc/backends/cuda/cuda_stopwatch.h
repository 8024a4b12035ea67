#pragma once

// Time on the GPU, between two events. What the host spends on a launch must
// not be in it: of short calls that is more than the call, and of long ones
// enough to decide between two that are nearly equal. So the stream waits until
// a whole reading is queued, and a reading that began earlier than that is
// taken again. And the blocks of what ran before are scattered first.
//
// Replaying a CUDA graph would do the same with less of the host's time, but
// while any stream is captured, no other thread may synchronise the device: a
// program that does would fail because we tune.

#include <map>

#include "backends/cuda/handle.h"
#include "tuning/stopwatch.h"

namespace tunedops::cuda {

class CudaStopwatch final : public Stopwatch {
 public:
  CudaStopwatch(int multiprocessors, cudaStream_t stream)
      : multiprocessors_(multiprocessors), stream_(stream) {}

  /// Of short calls more than were asked for.
  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override;
  Status glance(std::span<const Launch> rotation, std::size_t first,
                double& milliseconds) override;
  std::string_view name() const override { return "events"; }
  double resolution_ms() const override { return 0.02; }
  double settling_ms() const override { return 60; }
  double now_ms() override;

 private:
  struct Estimate {
    double call_ms = 0;    // 0: not known
    double launch_us = 0;  // of the host, for one call
  };

  Status take(std::span<const Launch> rotation, std::size_t first, int calls,
              Estimate& estimate, bool& was_queued_in_time);

  int multiprocessors_;
  cudaStream_t stream_;
  unsigned readings_ = 0;
  Event begin_;
  Event end_;
  std::map<const Launch*, Estimate> known_;  // by the place of the rotation
  // The best guess for one that was never timed; the first may be too short.
  double launch_us_ = 12;
};

}  // namespace tunedops::cuda
