#pragma once

// NVIDIA GPUs as devices to tune for. Tuning runs on a stream of our own and in
// allocations of our own: torch's caching pools may belong to a graph that is
// being captured, and the caller's stream may be the legacy one, which cannot
// be captured for graph replay.

#include "tuning/backend.h"

namespace tunedops::cuda {

class CudaBackend final : public Backend {
 public:
  std::string device_name(Device device) const override;
  std::string file_tag(Device device) const override;
  Validators validators(Device device) const override;
  std::size_t cache_bytes(Device device) const override;
  std::size_t tuning_memory_bytes(Device device) const override;
  DeviceMemory allocate(Device device, std::size_t bytes) const override;
  std::unique_ptr<OperandMemory>
  make_operand_memory(Device device, Stream stream) const override;
  std::unique_ptr<Stopwatch> make_stopwatch(Device device, Stream stream,
                                            bool in_graphs) const override;
  Status may_tune(Device device, Stream stream) const override;
  std::unique_ptr<TuningScope> enter_tuning(Device device,
                                            Stream stream) const override;
};

}  // namespace tunedops::cuda
