#include "backends/cuda/cuda_stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/cuda/pause.h"
#include "backends/cuda/scatter_blocks.h"

namespace tunedops::cuda {
namespace {

// A reading of this length is long beside the ticks of the events.
constexpr double kReadingMs = 0.15;

// A reading may be shorter than that where its length was one call's guess.
constexpr double kLeastShare = 0.3;

// The queue of a stream has an end, and behind it the host waits.
constexpr int kMostQueued = 256;

// What the host is allowed to be slower than last time.
constexpr double kRoom = 1.5;
constexpr double kEventsUs = 10;
constexpr int kMostAttempts = 4;

}  // namespace

double CudaStopwatch::now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status CudaStopwatch::measure(std::span<const Launch> rotation,
                              std::size_t first, int calls,
                              double& milliseconds) {
  Estimate& estimate = known_[rotation.data()];
  bool in_time = false;
  bool is_long = false;
  if (estimate.call_ms == 0) {
    // One call tells how many make a reading: it may take a thousand times as
    // long as others did.
    estimate.launch_us = launch_us_;
    if (Status status = take(rotation, first, 1, estimate, in_time);
        !status.is_ok()) {
      return status;
    }
    is_long = in_time && calls == 1 && estimate.call_ms >= kReadingMs;
  }
  for (int attempt = 0; attempt < kMostAttempts && !is_long; ++attempt) {
    const double wanted = std::ceil(kReadingMs / estimate.call_ms);
    const int queued = std::clamp(static_cast<int>(std::min(wanted, 1e6)),
                                  std::min(calls, kMostQueued), kMostQueued);
    if (Status status = take(rotation, first, queued, estimate, in_time);
        !status.is_ok()) {
      return status;
    }
    // The first call may have been disturbed.
    const bool long_enough =
        queued == kMostQueued ||
        queued * estimate.call_ms >= kLeastShare * kReadingMs;
    if (in_time && long_enough) {
      break;
    }
    if (!in_time) {
      estimate.launch_us *= kRoom;
    }
  }
  milliseconds = estimate.call_ms;
  launch_us_ = estimate.launch_us;
  return Status::ok();
}

// Whoever had this place before may be gone.
Status CudaStopwatch::glance(std::span<const Launch> rotation,
                             std::size_t first, double& milliseconds) {
  known_.erase(rotation.data());
  return measure(rotation, first, 1, milliseconds);
}

Status CudaStopwatch::take(std::span<const Launch> rotation, std::size_t first,
                           int calls, Estimate& estimate,
                           bool& was_queued_in_time) {
  TUNEDOPS_CUDA_RETURN(
      pause(kEventsUs + kRoom * calls * estimate.launch_us, stream_));
  TUNEDOPS_CUDA_RETURN(scatter_blocks(multiprocessors_, ++readings_, stream_));
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(begin_.get(), stream_));
  const double before_ms = now_ms();
  std::size_t next = first % rotation.size();
  for (int call = 0; call < calls; ++call) {
    if (Status status = rotation[next](); !status.is_ok()) {
      return status;
    }
    next = next + 1 == rotation.size() ? 0 : next + 1;
  }
  const double launch_us = 1e3 * (now_ms() - before_ms) / calls;
  TUNEDOPS_CUDA_RETURN(cudaEventRecord(end_.get(), stream_));
  const cudaError_t begun = cudaEventQuery(begin_.get());
  was_queued_in_time = begun == cudaErrorNotReady;
  if (was_queued_in_time) {
    ignore(cudaGetLastError());  // "not ready" is no error
  } else {
    TUNEDOPS_CUDA_RETURN(begun);
  }
  TUNEDOPS_CUDA_RETURN(cudaEventSynchronize(end_.get()));
  float reading = 0;
  TUNEDOPS_CUDA_RETURN(
      cudaEventElapsedTime(&reading, begin_.get(), end_.get()));
  if (!(reading > 0 && std::isfinite(reading))) {
    return Status::failed("the clock of the GPU did not advance");
  }
  estimate.call_ms = static_cast<double>(reading) / calls;
  estimate.launch_us = std::max(launch_us, estimate.launch_us / kRoom);
  return Status::ok();
}

}  // namespace tunedops::cuda
