#include "backends/cuda/pause.h"

#include <cstdint>

namespace tunedops::cuda {
namespace {

__global__ void wait(std::uint64_t nanoseconds) {
  const auto now = [] {
    std::uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  const std::uint64_t begin = now();
  // The timer ticks once a microsecond or so; the bound is for one that stands.
  for (int i = 0; i < 10'000'000 && now() - begin < nanoseconds; ++i) {
  }
}

}  // namespace

cudaError_t pause(double microseconds, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, wait,
                            static_cast<std::uint64_t>(1e3 * microseconds));
}

}  // namespace tunedops::cuda
