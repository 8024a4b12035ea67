#pragma once

// A region of memory with holes: equal runs at regular distances, in two
// levels. What operands are to code that fills and inspects memory, on the host
// and (compiled by nvcc) on a GPU.

#include <cstdint>

namespace tunedops {

/// `far_count` groups, each of `near_count` runs of `length` units. What a unit
/// is (an element, a byte), the user says.
struct Runs {
  std::int64_t length = 0;
  std::int64_t near_count = 1;
  std::int64_t near_distance = 0;  // between the starts of runs of a group
  std::int64_t far_count = 1;
  std::int64_t far_distance = 0;  // between the starts of groups

  constexpr std::int64_t count() const { return near_count * far_count; }

  constexpr std::int64_t start(std::int64_t run) const {
    return run / near_count * far_distance + run % near_count * near_distance;
  }

  /// Units from the first run of a group to the end of its last.
  constexpr std::int64_t group_extent() const {
    return (near_count - 1) * near_distance + length;
  }

  constexpr std::int64_t extent() const {
    return (far_count - 1) * far_distance + group_extent();
  }

  bool operator==(const Runs&) const = default;
};

}  // namespace tunedops
