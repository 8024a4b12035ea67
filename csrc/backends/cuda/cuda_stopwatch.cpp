#include "backends/cuda/cuda_stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/cuda/pause.h"

namespace tunedops::cuda {
namespace {

// A replay of this length is long beside its own start.
constexpr double kReplayMs = 0.25;

// More than the host takes to launch a graph, or one of torch's products.
constexpr double kGraphLaunchUs = 15;
constexpr double kLaunchUs = 15;
constexpr double kMostPauseUs = 1000;

}  // namespace

double CudaStopwatch::now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status CudaStopwatch::measure(std::span<const Launch> rotation,
                              std::size_t first, int calls,
                              double& milliseconds) {
  auto known = replays_.find(rotation.data());
  if (known == replays_.end()) {
    double call_ms = 0;
    if (Status timed = measure_launches(rotation, first, 1, call_ms);
        !timed.is_ok()) {
      return timed;
    }
    Replay replay;
    const Status made = make_replay(rotation, call_ms, replay);
    if (made.is_sticky()) {
      return made;
    }
    known = replays_.emplace(rotation.data(), std::move(replay)).first;
  }
  return known->second.graph
             ? measure_replays(known->second, calls, milliseconds)
             : measure_launches(rotation, first, calls, milliseconds);
}

Status CudaStopwatch::measure_launches(std::span<const Launch> rotation,
                                       std::size_t first, int calls,
                                       double& milliseconds) {
  std::size_t next = first % rotation.size();
  if (Status begun = begin(calls); !begun.is_ok()) {
    return begun;
  }
  for (int call = 0; call < calls; ++call) {
    if (Status status = rotation[next](); !status.is_ok()) {
      return status;
    }
    next = next + 1 == rotation.size() ? 0 : next + 1;
  }
  if (Status status = end(milliseconds); !status.is_ok()) {
    return status;
  }
  milliseconds /= calls;
  return Status::ok();
}

Status CudaStopwatch::measure_replays(const Replay& replay, int calls,
                                      double& milliseconds) {
  const int replays = std::max(1, calls / replay.calls);
  if (Status begun = begin(0); !begun.is_ok()) {
    return begun;
  }
  for (int i = 0; i < replays; ++i) {
    TUNEDOPS_CUDA_RETURN(cudaGraphLaunch(replay.graph.get(), stream_));
  }
  if (Status status = end(milliseconds); !status.is_ok()) {
    return status;
  }
  milliseconds /= static_cast<double>(replays) * replay.calls;
  return Status::ok();
}

// `call_ms` is an estimate. What the host took may be in it, and then the first
// graph is too short.
Status CudaStopwatch::make_replay(std::span<const Launch> rotation,
                                  double call_ms, Replay& replay) {
  const auto copies = static_cast<double>(rotation.size());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto walks = static_cast<int>(
        std::ceil(std::clamp(kReplayMs / (copies * call_ms), 1.0, 1e3)));
    if (Status captured = capture(rotation, walks, replay); !captured.is_ok()) {
      return captured;
    }
    if (Status timed = measure_replays(replay, 1, call_ms); !timed.is_ok()) {
      return timed;
    }
    if (call_ms * replay.calls > kReplayMs / 2) {
      break;
    }
  }
  return Status::ok();
}

Status CudaStopwatch::capture(std::span<const Launch> rotation, int walks,
                              Replay& replay) {
  Status launched = Status::ok();
  TUNEDOPS_CUDA_RETURN(
      cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
  int calls = 0;
  for (int walk = 0; walk < walks; ++walk) {
    for (const Launch& launch : rotation) {
      launched = launched.is_ok() ? launch() : launched;
      ++calls;
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
  replay.graph = GraphExec(executable);
  replay.calls = calls;
  return Status::ok();
}

// Lets the stream wait while the host queues what is measured: so many launches
// or, with none, a graph.
Status CudaStopwatch::begin(int launches) {
  const double needed = kGraphLaunchUs + kLaunchUs * launches;
  TUNEDOPS_CUDA_RETURN(pause(std::min(needed, kMostPauseUs), stream_));
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(begin_.get(), stream_));
  return Status::ok();
}

Status CudaStopwatch::end(double& milliseconds) {
  float reading = 0;
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(end_.get(), stream_));
  TUNEDOPS_CUDA_RETURN(cudaEventSynchronize(end_.get()));
  TUNEDOPS_CUDA_RETURN(
      cudaEventElapsedTime(&reading, begin_.get(), end_.get()));
  milliseconds = reading;
  return reading > 0 && std::isfinite(reading)
             ? Status::ok()
             : Status::failed("the clock of the GPU did not advance");
}

}  // namespace tunedops::cuda
