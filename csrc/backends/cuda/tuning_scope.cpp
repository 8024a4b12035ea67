#include "backends/cuda/tuning_scope.h"

#include <map>
#include <mutex>

namespace tunedops::cuda {
namespace {

// One stream a device, kept: libraries keep a workspace for every stream that
// they have seen. One tuning runs at a time, so one stream is enough. Never
// destroyed, since the driver may be gone when statics are.
cudaStream_t tuning_stream(int index) {
  static auto& mutex = *new std::mutex;
  static auto& streams = *new std::map<int, OwnStream>;
  const std::lock_guard lock(mutex);
  return streams.try_emplace(index).first->second.get();
}

}  // namespace

CudaTuningScope::CudaTuningScope(Device device, Stream caller)
    : TuningScope(Stream{}), device_(device.index) {
  stream_.handle = tuning_stream(device.index);
  // Work that the caller has queued would disturb the first measurements.
  const Event queued;
  TUNEDOPS_CUDA_CHECK(
      cudaEventRecord(queued.get(), static_cast<cudaStream_t>(caller.handle)));
  TUNEDOPS_CUDA_CHECK(cudaEventSynchronize(queued.get()));
}

}  // namespace tunedops::cuda
