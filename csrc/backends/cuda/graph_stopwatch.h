#pragma once

// Times calls as a program that runs CUDA graphs feels them: a graph of whole
// walks through the rotation is one launch, timed by the other stopwatch.
// Between the launches of one product a graph leaves other gaps than a stream
// does, so products of several launches come out differently.
//
// Long calls need none: the gaps are a microsecond, and to make a graph takes
// several calls.
//
// Only on request: while a graph is captured no other thread may synchronise
// the device.

#include <map>

#include "backends/cuda/cuda_stopwatch.h"
#include "backends/cuda/handle.h"

namespace tunedops::cuda {

class GraphStopwatch final : public Stopwatch {
 public:
  GraphStopwatch(int multiprocessors, cudaStream_t stream)
      : stream_(stream), launches_(multiprocessors, stream) {}

  /// What cannot be captured is timed launch by launch.
  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override;
  /// Without a graph, which takes longer to make than to run.
  Status glance(std::span<const Launch> rotation, std::size_t first,
                double& milliseconds) override {
    return launches_.glance(rotation, first, milliseconds);
  }
  std::string_view name() const override { return "graphs"; }
  double resolution_ms() const override { return launches_.resolution_ms(); }
  double settling_ms() const override { return launches_.settling_ms(); }
  double now_ms() override { return launches_.now_ms(); }

 private:
  struct Walks {
    GraphExec graph;  // none: this rotation cannot be captured
    Launch launch;
    int calls = 0;
  };

  Status make(std::span<const Launch> rotation, double call_ms);
  Status capture(std::span<const Launch> rotation, int count, Walks& walks);

  cudaStream_t stream_;
  CudaStopwatch launches_;
  std::map<const Launch*, Walks> known_;  // by the place of the rotation
};

}  // namespace tunedops::cuda
