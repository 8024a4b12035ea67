#pragma once

// Memory between pages that nobody may touch. The address sanitizer does not
// see what instructions read that it does not know, AMX's above all.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace tunedops {

/// So many bytes, all zero, that begin or end at a fence.
class FencedMemory {
 public:
  enum End { kFirst, kLast };

  FencedMemory(std::int64_t bytes, End end) {
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const std::int64_t inner = (bytes + page - 1) / page * page;
    size_ = static_cast<std::size_t>(inner + 2 * page);
    void* const all =
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
      throw std::bad_alloc();
    }
    begin_ = static_cast<char*>(all);
    if (mprotect(begin_ + page, static_cast<std::size_t>(inner),
                 PROT_READ | PROT_WRITE) != 0) {
      munmap(begin_, size_);
      throw std::bad_alloc();
    }
    data_ = begin_ + page + (end == kFirst ? 0 : inner - bytes);
  }

  ~FencedMemory() { munmap(begin_, size_); }

  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;

  void* data() const { return data_; }

 private:
  char* begin_ = nullptr;
  std::size_t size_ = 0;
  char* data_ = nullptr;
};

}  // namespace tunedops
