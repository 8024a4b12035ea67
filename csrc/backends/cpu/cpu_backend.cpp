#include "backends/cpu/cpu_backend.h"

#include <cstdlib>

#include "backends/cpu/cpu_stopwatch.h"
#include "backends/cpu/host_facts.h"
#include "backends/cpu/isa.h"
#include "kernels/revision.h"
#include "tuning/host_memory.h"

namespace tunedops::cpu {

std::string CpuBackend::device_name(Device) const {
  return processor_name() + " (" + std::string(to_text(detected_isa())) + ')';
}

Validators CpuBackend::validators(Device) const {
  Validators validators;
  validators.add("TUNEDOPS_KERNELS", std::to_string(kKernelsRevision));
  validators.add("DEVICE",
                 processor_name() + ':' + std::string(to_text(detected_isa())));
  return validators;
}

std::size_t CpuBackend::cache_bytes(Device) const { return last_cache_bytes(); }

// A quarter of what is free, so that tuning never pushes the program's own
// memory out.
std::size_t CpuBackend::tuning_memory_bytes(Device) const {
  return available_memory_bytes() / 4;
}

DeviceMemory CpuBackend::allocate(Device, std::size_t bytes) const {
  constexpr std::size_t kAlignment = 512;
  const std::size_t rounded =
      (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return {std::aligned_alloc(kAlignment, rounded), std::free};
}

std::unique_ptr<OperandMemory> CpuBackend::make_operand_memory(Device,
                                                               Stream) const {
  return std::make_unique<HostMemory>();
}

std::unique_ptr<Stopwatch> CpuBackend::make_stopwatch(Device, Stream,
                                                      bool) const {
  return std::make_unique<CpuStopwatch>();
}

}  // namespace tunedops::cpu
