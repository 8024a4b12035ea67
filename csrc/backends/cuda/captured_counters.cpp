#include "backends/cuda/captured_counters.h"

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/handle.h"
#include "backends/cuda/tuning_scope.h"

namespace tunedops::cuda {
namespace {

constexpr std::size_t kSlab = std::size_t{1} << 18;  // counters: 1 MiB
constexpr std::size_t kGrain = 32;                   // counters: 128 bytes

struct Slab {
  unsigned* begin = nullptr;
  std::size_t used = kSlab;
};

// Null if there is not enough memory.
unsigned* allocate_slab() {
  const RelaxedCapture relaxed;
  const OwnStream stream;
  void* memory = nullptr;
  const std::size_t bytes = kSlab * sizeof(unsigned);
  if (!to_status(cudaMalloc(&memory, bytes), "cudaMalloc").is_ok()) {
    return nullptr;
  }
  TUNEDOPS_CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, stream.get()));
  TUNEDOPS_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  return static_cast<unsigned*>(memory);
}

}  // namespace

unsigned* captured_counters(int device, std::size_t count) {
  static auto& mutex = *new std::mutex;
  static auto& slabs = *new std::map<int, Slab>;
  const std::lock_guard lock(mutex);
  Slab& slab = slabs[device];
  const std::size_t wanted = (count + kGrain - 1) / kGrain * kGrain;
  if (slab.used + wanted > kSlab) {
    unsigned* const begin = allocate_slab();
    if (begin == nullptr) {
      return nullptr;
    }
    slab = {.begin = begin, .used = 0};
  }
  return slab.begin + std::exchange(slab.used, slab.used + wanted);
}

}  // namespace tunedops::cuda
