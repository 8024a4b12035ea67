#pragma once

// Time on the GPU, between two events, of a graph that walks through the
// rotation. Replaying a graph leaves out what the host spends on a launch: of
// short calls that is more than the call, and of long ones enough to decide
// between two that are nearly equal. Programs that care run graphs too.

#include <map>

#include "backends/cuda/handle.h"
#include "tuning/stopwatch.h"

namespace tunedops::cuda {

class CudaStopwatch final : public Stopwatch {
 public:
  explicit CudaStopwatch(cudaStream_t stream) : stream_(stream) {}

  /// At least one replay of the graph, of one or more walks.
  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override;
  double resolution_ms() const override { return 0.02; }
  double now_ms() override;

 private:
  struct Replay {
    GraphExec graph;  // none: this rotation cannot be captured
    int calls = 0;
  };

  Status measure_launches(std::span<const Launch> rotation, std::size_t first,
                          int calls, double& milliseconds);
  Status measure_replays(const Replay& replay, int calls, double& milliseconds);
  Status make_replay(std::span<const Launch> rotation, double call_ms,
                     Replay& replay);
  Status capture(std::span<const Launch> rotation, int walks, Replay& replay);
  Status begin(int launches);
  Status end(double& milliseconds);

  cudaStream_t stream_;
  Event begin_;
  Event end_;
  std::map<const Launch*, Replay> replays_;  // by the place of the rotation
};

}  // namespace tunedops::cuda
