#pragma once

// How far apart lines of 2-byte elements are once they are packed.

#include <cstdint>

namespace tunedops::cuda {

constexpr std::int64_t packed_line_stride(std::int64_t length) {
  constexpr std::int64_t kElements = 8;  // of 16 bytes
  return (length + kElements - 1) / kElements * kElements;
}

}  // namespace tunedops::cuda
