#pragma once

// Keeps a stream waiting for a moment, so that what is queued behind it starts
// without a gap: else a reading between two events would hold the time that the
// host takes to launch.

#include <cuda_runtime_api.h>

namespace tunedops::cuda {

cudaError_t pause(double microseconds, cudaStream_t stream);

}  // namespace tunedops::cuda
