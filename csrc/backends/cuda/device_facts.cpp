#include "backends/cuda/device_facts.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "backends/cuda/check.h"

namespace tunedops::cuda {

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
    found = known.emplace(index, std::move(facts)).first;
  }
  return found->second;
}

}  // namespace tunedops::cuda
