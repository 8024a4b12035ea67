#include "backends/cuda/cuda_stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tunedops::cuda {
namespace {

// Below this, what the host spends on a launch may be longer than the call.
constexpr double kReplayBelowMs = 0.05;

// Enough that the start of a graph is a small part of a replay.
constexpr int kLeastCallsOfReplay = 16;

}  // namespace

double CudaStopwatch::now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status CudaStopwatch::measure(std::span<const Launch> rotation,
                              std::size_t first, int calls,
                              double& milliseconds) {
  const Launch* const place = rotation.data();
  const auto known = estimate_ms_.find(place);
  if (known == estimate_ms_.end() || known->second >= kReplayBelowMs) {
    Status status = measure_launches(rotation, first, calls, milliseconds);
    if (status.is_ok()) {
      estimate_ms_[place] = milliseconds;
    }
    return status;
  }
  auto replay = replays_.find(place);
  if (replay == replays_.end()) {
    Replay captured;
    if (Status status = capture(rotation, captured); !status.is_ok()) {
      return status;
    }
    replay = replays_.emplace(place, std::move(captured)).first;
  }
  return measure_replays(replay->second, calls, milliseconds);
}

Status CudaStopwatch::measure_launches(std::span<const Launch> rotation,
                                       std::size_t first, int calls,
                                       double& milliseconds) {
  std::size_t next = first % rotation.size();
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(begin_.get(), stream_));
  for (int call = 0; call < calls; ++call) {
    if (Status status = rotation[next](); !status.is_ok()) {
      return status;
    }
    next = next + 1 == rotation.size() ? 0 : next + 1;
  }
  if (Status status = elapsed(milliseconds); !status.is_ok()) {
    return status;
  }
  milliseconds /= calls;
  return Status::ok();
}

Status CudaStopwatch::measure_replays(const Replay& replay, int calls,
                                      double& milliseconds) {
  const int replays = std::max(1, calls / replay.calls);
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(begin_.get(), stream_));
  for (int i = 0; i < replays; ++i) {
    TUNEDOPS_CUDA_RETURN(cudaGraphLaunch(replay.graph.get(), stream_));
  }
  if (Status status = elapsed(milliseconds); !status.is_ok()) {
    return status;
  }
  milliseconds /= static_cast<double>(replays) * replay.calls;
  return Status::ok();
}

Status CudaStopwatch::capture(std::span<const Launch> rotation,
                              Replay& replay) {
  const auto copies = static_cast<int>(rotation.size());
  const int rounds = (kLeastCallsOfReplay + copies - 1) / copies;
  Status launched = Status::ok();
  TUNEDOPS_CUDA_RETURN(
      cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
  for (int call = 0; call < rounds * copies && launched.is_ok(); ++call) {
    launched = rotation[static_cast<std::size_t>(call % copies)]();
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
  replay.calls = rounds * copies;
  return Status::ok();
}

Status CudaStopwatch::elapsed(double& milliseconds) {
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
