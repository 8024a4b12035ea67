#pragma once

// What a thread needs while it tunes on a GPU: the device as current one, a
// stream of its own that begins where the caller's stands, and a capture mode
// in which its synchronisation does not break a capture on another thread.

#include "backends/cuda/device_guard.h"
#include "backends/cuda/handle.h"
#include "tuning/backend.h"

namespace tunedops::cuda {

/// Lets this thread allocate and synchronise while others capture.
class RelaxedCapture {
 public:
  RelaxedCapture() {
    TUNEDOPS_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode_));
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { ignore(cudaThreadExchangeStreamCaptureMode(&mode_)); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class CudaTuningScope final : public TuningScope {
 public:
  CudaTuningScope(Device device, Stream caller);

 private:
  DeviceGuard device_;
  RelaxedCapture relaxed_;
};

}  // namespace tunedops::cuda
