#pragma once

// Time on the GPU, between two events. Calls shorter than their launch costs
// on the host are captured into a graph of one round through the rotation and
// replayed, so that the gaps between launches are not measured; programs that
// care about such products run them from graphs too.

#include <map>

#include "backends/cuda/handle.h"
#include "tuning/stopwatch.h"

namespace tunedops::cuda {

class CudaStopwatch final : public Stopwatch {
 public:
  explicit CudaStopwatch(cudaStream_t stream) : stream_(stream) {}

  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override;
  double resolution_ms() const override { return 0.02; }
  double now_ms() override;

 private:
  struct Replay {
    GraphExec graph;
    int calls = 0;
  };

  Status measure_launches(std::span<const Launch> rotation, std::size_t first,
                          int calls, double& milliseconds);
  Status measure_replays(const Replay& replay, int calls, double& milliseconds);
  Status capture(std::span<const Launch> rotation, Replay& replay);
  Status elapsed(double& milliseconds);

  cudaStream_t stream_;
  Event begin_;
  Event end_;
  // By the place of the rotation: what it costs a call, and its graph.
  std::map<const Launch*, double> estimate_ms_;
  std::map<const Launch*, Replay> replays_;
};

}  // namespace tunedops::cuda
