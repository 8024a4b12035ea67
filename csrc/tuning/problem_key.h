#pragma once

// The erased form of a problem. Every op has a struct of its own with named
// fields (GemmProblem, …); the caches, the results and the tuner only need to
// hash, compare and copy it, and to know its op and device. All problems share
// one size and start with ProblemHeader, so that a lookup is integer work over
// 128 bytes: no string, no heap, no virtual call.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tuning/device.h"

namespace tunedops {

/// Identifies an op; assigned in the op's own problem header.
enum class OpId : std::uint8_t {};

struct ProblemHeader {
  OpId op{};
  DeviceType device_type = DeviceType::kCpu;
  std::int16_t device_index = 0;
  std::uint16_t threads = 0;  // of the pool that the call uses; 0 on a GPU
  std::uint16_t precision =
      0;  // bits that the op defines: TF32, deterministic…

  Device device() const { return {device_type, device_index}; }
  bool operator==(const ProblemHeader&) const = default;
};

inline constexpr std::size_t kProblemBytes = 128;

struct alignas(8) ProblemKey {
  std::array<std::uint64_t, kProblemBytes / 8> words{};

  bool operator==(const ProblemKey&) const = default;

  ProblemHeader header() const {
    return std::bit_cast<ProblemHeader>(words[0]);
  }

  std::uint64_t hash() const {
    // Multiply and rotate per word: neighbouring shapes differ in few bits, and
    // the caches index with the low ones.
    std::uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (const std::uint64_t word : words) {
      h = std::rotl((h ^ word) * 0xff51afd7ed558ccdULL, 32);
    }
    return h ^ (h >> 29);
  }
};

struct ProblemKeyHash {
  std::size_t operator()(const ProblemKey& key) const { return key.hash(); }
};

/// A problem struct as key. The struct must fill the key and have no padding,
/// or equal problems could differ in bytes that nobody wrote.
template <class Problem>
ProblemKey to_key(const Problem& problem) {
  static_assert(sizeof(Problem) == kProblemBytes);
  static_assert(std::has_unique_object_representations_v<Problem>);
  return std::bit_cast<ProblemKey>(problem);
}

template <class Problem>
Problem from_key(const ProblemKey& key) {
  static_assert(sizeof(Problem) == kProblemBytes);
  return std::bit_cast<Problem>(key);
}

}  // namespace tunedops
