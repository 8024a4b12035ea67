#pragma once

// Which number of the table of normal numbers an element of an operand has: a
// function of the operand's seed and the element's index and of nothing else,
// so that any element can be known without the others. In integers only, so
// that a GPU and the host agree bit for bit; also compiled by nvcc.
//
// The bits are hashed, not stepped through: if a row of one operand had now and
// then the same numbers as a row of another, their product would be far larger
// than tolerances assume.

#include <cstdint>

namespace tunedops {

/// Of the table.
inline constexpr std::uint32_t kNormals = 1 << 14;

/// Consecutive elements share a hash.
inline constexpr std::int64_t kNormalGroup = 4;

/// The hash of elements 4 * group to 4 * group + 3: Stafford's variant 13 of
/// MurmurHash3's finalizer, as in SplitMix64.
constexpr std::uint64_t normal_hash(std::uint64_t seed, std::int64_t group) {
  std::uint64_t z =
      static_cast<std::uint64_t>(group) + seed * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Of an element within its group.
constexpr std::uint32_t normal_of_group(std::uint64_t hash, int element) {
  return static_cast<std::uint32_t>(hash >> (16 * element)) % kNormals;
}

/// The place in the table; `index` is not negative.
constexpr std::uint32_t normal_index(std::uint64_t seed, std::int64_t index) {
  return normal_of_group(normal_hash(seed, index / kNormalGroup),
                         static_cast<int>(index % kNormalGroup));
}

}  // namespace tunedops
