#include "backends/cuda/device_facts.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "backends/cuda/check.h"

namespace tunedops::cuda {

const DeviceFacts& device_facts(int index) {
  static std::mutex mutex;
  static std::map<int, DeviceFacts> known;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(index);
  if (is_new) {
    cudaDeviceProp properties{};
    TUNEDOPS_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    DeviceFacts& facts = found->second;
    facts.name = properties.name;
    std::replace(facts.name.begin(), facts.name.end(), ',', ' ');
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.multiprocessors = properties.multiProcessorCount;
    facts.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  }
  return found->second;
}

}  // namespace tunedops::cuda
