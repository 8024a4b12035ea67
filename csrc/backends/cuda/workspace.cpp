#include "backends/cuda/workspace.h"

#include <bit>
#include <utility>

#include "backends/cuda/thread_owned.h"
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
  if (!to_status(cudaMemsetAsync(memory, 0, kCounterBytes, stream),
                 "cudaMemsetAsync")
           .is_ok()) {
    ignore(cudaFree(memory));
    return {};
  }
  return {
      .scratch = {.workspace = static_cast<std::byte*>(memory) + kCounterBytes,
                  .counters = static_cast<unsigned*>(memory)},
      .bytes = bytes};
}

}  // namespace

Scratch eager_scratch(int device, cudaStream_t stream, std::size_t bytes) {
  using Blocks = ThreadOwned<std::pair<int, cudaStream_t>, Block>;
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
  // A block that is too small is not freed: work on the stream may still read
  // it. Sizes double, so all of them together are no more than the last.
  Block& block = Blocks::of_this_thread({device, stream});
  if (block.scratch.workspace == nullptr || block.bytes < bytes) {
    const Block larger = allocate(stream, std::bit_ceil(bytes));
    if (larger.scratch.workspace == nullptr) {
      return {};
    }
    block = larger;
  }
  last = {device, stream, block};
  return block.scratch;
}

}  // namespace tunedops::cuda
