#pragma once

// Memory that a thread keeps for its next call, aligned to cache lines. It
// grows and never shrinks, so that only the first calls of a thread allocate.

#include <cstddef>
#include <memory>
#include <new>

namespace tunedops::cpu {

/// `Owner` tells those apart who need memory at the same time. Throws
/// std::bad_alloc.
template <class Owner>
void* thread_scratch(std::size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  struct AlignedDelete {
    void operator()(void* p) const { ::operator delete(p, kAlignment); }
  };
  thread_local std::unique_ptr<void, AlignedDelete> buffer;
  thread_local std::size_t capacity = 0;
  if (bytes > capacity) {
    buffer.reset();
    capacity = 0;
    buffer.reset(::operator new(bytes, kAlignment));
    capacity = bytes;
  }
  return buffer.get();
}

}  // namespace tunedops::cpu
