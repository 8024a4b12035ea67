#pragma once

// Where an operand has elements and where it has none, as runs in the order of
// memory and as long as they can be.

#include <cstdint>
#include <vector>

#include "tuning/op_definition.h"
#include "tuning/runs.h"

namespace tunedops {

/// In elements, from the base on. Batch and outer change places where matrices
/// are interleaved; what is contiguous is one run.
Runs element_runs(const Operand& operand);

/// Bytes that are no elements; `first` counts from the base.
struct Gaps {
  std::int64_t first = 0;
  Runs runs;  // in bytes
};

/// All bytes of [begin, end), counted from the base, that are no elements. If
/// runs lie inside of one another, so that no gap is surely one, only what lies
/// before and behind all elements.
std::vector<Gaps> gaps_between(const Operand& operand, std::int64_t begin,
                               std::int64_t end);

/// The position of the element that lies `index` elements behind the base.
Position position_at(const Operand& operand, std::int64_t index);

}  // namespace tunedops
