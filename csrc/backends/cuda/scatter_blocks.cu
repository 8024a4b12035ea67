#include "backends/cuda/scatter_blocks.h"

namespace tunedops::cuda {
namespace {

// Several waves of blocks that each last another time.
constexpr int kBlocksPerMultiprocessor = 64;
constexpr int kThreads = 256;
constexpr unsigned kLongestCycles = 2048;

__global__ void last_at_random(unsigned seed) {
  unsigned hash = seed * 0x9e3779b9U + blockIdx.x;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  const long long cycles = (hash ^ (hash >> 16)) % kLongestCycles;
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

}  // namespace

cudaError_t scatter_blocks(int multiprocessors, unsigned seed,
                           cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocksPerMultiprocessor * multiprocessors);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, last_at_random, seed);
}

}  // namespace tunedops::cuda
