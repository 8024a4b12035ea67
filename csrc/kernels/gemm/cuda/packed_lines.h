#pragma once

// How an operand whose lines begin anywhere is copied so that they begin at
// multiples of 16 bytes, or of 128. Of no GPU in particular, and so tested
// without one.

#include <cstddef>
#include <cstdint>

namespace tunedops::cuda {

/// Lines of 2-byte elements of all matrices of a batch. Copies lie one behind
/// the other, their lines filled up to `packed_pitch` with what nobody reads.
struct PackedLines {
  const void* from = nullptr;
  void* to = nullptr;  // a multiple of 16 bytes
  std::int64_t length = 0;
  std::int64_t lines = 0;  // of a matrix
  std::int64_t line_stride = 0;
  std::int64_t matrices = 1;
  std::int64_t matrix_stride = 0;
};

/// From line to line of the copy, in elements: aligned, and so that no 128
/// bytes lie in two lines of the cache, where that costs little.
constexpr std::int64_t packed_pitch(std::int64_t length) {
  const std::int64_t aligned = (length + 7) / 8 * 8;
  const std::int64_t in_cache_lines = (length + 63) / 64 * 64;
  return in_cache_lines <= aligned + aligned / 8 ? in_cache_lines : aligned;
}

/// Of one operand: what counts its chunks is an int.
inline constexpr std::size_t kMostPackedBytes = std::size_t{2} << 30;

constexpr std::int64_t packed_bytes(const PackedLines& x) {
  return 2 * packed_pitch(x.length) * x.lines * x.matrices;
}

}  // namespace tunedops::cuda
