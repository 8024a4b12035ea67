#pragma once

// The CPU as a device to tune for. Its threads belong to torch's pool, whose
// size is part of every problem.

#include "tuning/backend.h"

namespace tunedops::cpu {

class CpuBackend final : public Backend {
 public:
  std::string device_name(Device device) const override;
  std::string file_tag(Device) const override { return "_cpu"; }
  Validators validators(Device device) const override;
  std::size_t cache_bytes(Device device) const override;
  std::size_t tuning_memory_bytes(Device device) const override;
  DeviceMemory allocate(Device device, std::size_t bytes) const override;
  std::unique_ptr<OperandMemory>
  make_operand_memory(Device device, Stream stream) const override;
  std::unique_ptr<Stopwatch> make_stopwatch(Device device, Stream stream,
                                            bool in_graphs) const override;
  Status may_tune(Device, Stream) const override { return Status::ok(); }
};

}  // namespace tunedops::cpu
