#pragma once

// Makes a device the thread's current one, and the earlier one again at the
// end.

#include <cuda_runtime_api.h>

#include "backends/cuda/check.h"

namespace tunedops::cuda {

class DeviceGuard {
 public:
  explicit DeviceGuard(int index) {
    TUNEDOPS_CUDA_CHECK(cudaGetDevice(&before_));
    if (before_ != index) {
      TUNEDOPS_CUDA_CHECK(cudaSetDevice(index));
      changed_ = true;
    }
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) {
      ignore(cudaSetDevice(before_));
    }
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace tunedops::cuda
