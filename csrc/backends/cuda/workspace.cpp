#include "backends/cuda/workspace.h"

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/tuning_scope.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr std::size_t kCounterBytes = kMostCounters * sizeof(unsigned);

struct Block {
  Scratch scratch;
  std::size_t bytes = 0;
};

// The counters come first, and are zeroed once: every run leaves them zero.
Block allocate(cudaStream_t stream, std::size_t bytes) {
  // A capture on another thread must survive the allocation.
  const RelaxedCapture relaxed;
  void* memory = nullptr;
  if (!to_status(cudaMalloc(&memory, kCounterBytes + bytes), "cudaMalloc")
           .is_ok()) {
    return {};
  }
  TUNEDOPS_CUDA_CHECK(cudaMemsetAsync(memory, 0, kCounterBytes, stream));
  return {
      .scratch = {.workspace = static_cast<std::byte*>(memory) + kCounterBytes,
                  .counters = static_cast<unsigned*>(memory)},
      .bytes = bytes};
}

}  // namespace

Scratch eager_scratch(int device, cudaStream_t stream, std::size_t bytes) {
  struct Last {
    int device = -1;
    cudaStream_t stream = nullptr;
    Block block;
  };
  static thread_local Last last;
  if (last.device == device && last.stream == stream &&
      last.block.bytes >= bytes) {
    return last.block.scratch;
  }
  // Never freed: a stream's handle says nothing about when it is destroyed,
  // and work on it may still read the block.
  static auto& mutex = *new std::mutex;
  static auto& blocks = *new std::map<std::pair<int, cudaStream_t>, Block>;
  const std::lock_guard lock(mutex);
  Block& block = blocks[{device, stream}];
  if (block.scratch.workspace == nullptr || block.bytes < bytes) {
    const Block larger = allocate(stream, bytes);
    if (larger.scratch.workspace == nullptr) {
      return {};
    }
    block = larger;
  }
  last = {device, stream, block};
  return block.scratch;
}

}  // namespace tunedops::cuda
