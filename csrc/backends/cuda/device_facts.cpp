#include "backends/cuda/device_facts.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "backends/cuda/check.h"

namespace tunedops::cuda {

namespace {

// Twice a clock, since both edges count, and less than what is printed on the
// box. Unified memory of small GPUs has no clock of its own: any number serves.
double bytes_per_us(int index) {
  constexpr double kReached = 0.85;
  constexpr double kUnknown = 1e6;
  int kilohertz = 0;
  int bits = 0;
  TUNEDOPS_CUDA_CHECK(
      cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, index));
  TUNEDOPS_CUDA_CHECK(
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index));
  const double bytes = kReached * 2e-3 * kilohertz * bits / 8;
  return bytes > 0 ? bytes : kUnknown;
}

}  // namespace

const DeviceFacts& device_facts(int index) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<int, DeviceFacts>;
  const std::lock_guard lock(mutex);
  auto found = known.find(index);
  if (found == known.end()) {
    cudaDeviceProp properties{};
    TUNEDOPS_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    DeviceFacts facts;
    facts.name = properties.name;
    std::replace(facts.name.begin(), facts.name.end(), ',', ' ');
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.multiprocessors = properties.multiProcessorCount;
    facts.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    facts.block_shared_bytes = properties.sharedMemPerBlockOptin;
    facts.bytes_per_us = bytes_per_us(index);
    found = known.emplace(index, std::move(facts)).first;
  }
  return found->second;
}

}  // namespace tunedops::cuda
