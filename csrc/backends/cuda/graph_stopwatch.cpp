#include "backends/cuda/graph_stopwatch.h"

#include <algorithm>
#include <cmath>

namespace tunedops::cuda {
namespace {

// A graph of this length is long beside its own start.
constexpr double kGraphMs = 0.25;
constexpr double kMostWalks = 1000;

// Of this length a call is long.
constexpr double kLongMs = 1;

}  // namespace

Status GraphStopwatch::measure(std::span<const Launch> rotation,
                               std::size_t first, int calls,
                               double& milliseconds) {
  auto found = known_.find(rotation.data());
  if (found == known_.end()) {
    Status timed = launches_.measure(rotation, first, calls, milliseconds);
    if (!timed.is_ok() || milliseconds >= kLongMs) {
      return timed;
    }
    if (timed = make(rotation, milliseconds); timed.is_sticky()) {
      return timed;
    }
    found = known_.find(rotation.data());
  }
  const Walks& walks = found->second;
  if (!walks.graph) {
    return launches_.measure(rotation, first, calls, milliseconds);
  }
  Status timed = launches_.measure(
      {&walks.launch, 1}, 0, std::max(1, calls / walks.calls), milliseconds);
  milliseconds /= walks.calls;
  return timed;
}

Status GraphStopwatch::make(std::span<const Launch> rotation, double call_ms) {
  Walks& walks = known_[rotation.data()];
  const double walk_ms = call_ms * static_cast<double>(rotation.size());
  const double count =
      std::clamp(std::ceil(kGraphMs / walk_ms), 1.0, kMostWalks);
  const Status captured = capture(rotation, static_cast<int>(count), walks);
  cudaGraphExec_t const graph = walks.graph.get();
  walks.launch = [graph, stream = stream_] {
    return to_status(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
  };
  return captured;
}

Status GraphStopwatch::capture(std::span<const Launch> rotation, int count,
                               Walks& walks) {
  Status launched = Status::ok();
  TUNEDOPS_CUDA_RETURN(
      cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
  for (int walk = 0; walk < count; ++walk) {
    for (const Launch& launch : rotation) {
      // The capture has to end, whatever is thrown.
      launched = launched.is_ok() ? status_of(launch) : launched;
    }
  }
  cudaGraph_t captured = nullptr;
  const Status ended = to_status(cudaStreamEndCapture(stream_, &captured),
                                 "cudaStreamEndCapture");
  const Graph graph(captured);
  if (!launched.is_ok()) {
    return launched;
  }
  if (!ended.is_ok()) {
    return ended;
  }
  cudaGraphExec_t executable = nullptr;
  TUNEDOPS_CUDA_RETURN(cudaGraphInstantiate(&executable, graph.get(), 0));
  walks.graph = GraphExec(executable);
  walks.calls = count * static_cast<int>(rotation.size());
  return Status::ok();
}

}  // namespace tunedops::cuda
