#include "tuning/operand_layout.h"

#include <algorithm>
#include <utility>

namespace tunedops {
namespace {

bool is_interleaved(const Operand& operand) {
  return operand.batch > 1 && operand.outer > 1 &&
         operand.batch_stride < operand.outer_stride;
}

// Makes one run of runs that touch.
void join(Runs& runs) {
  if (runs.near_count == 1 || runs.near_distance == runs.length) {
    runs.length *= runs.near_count;
    runs.near_count = std::exchange(runs.far_count, 1);
    runs.near_distance = std::exchange(runs.far_distance, 0);
  }
}

}  // namespace

Runs element_runs(const Operand& operand) {
  if (operand.inner <= 0 || operand.outer <= 0 || operand.batch <= 0) {
    return {};
  }
  Runs runs{.length = operand.inner,
            .near_count = operand.outer,
            .near_distance = operand.outer_stride,
            .far_count = operand.batch,
            .far_distance = operand.batch_stride};
  if (is_interleaved(operand)) {
    std::swap(runs.near_count, runs.far_count);
    std::swap(runs.near_distance, runs.far_distance);
  }
  join(runs);
  join(runs);
  if (runs.near_count == 1) {
    runs.near_distance = 0;
  }
  if (runs.far_count == 1) {
    runs.far_distance = 0;
  }
  return runs;
}

std::vector<Gaps> gaps_between(const Operand& operand, std::int64_t begin,
                               std::int64_t end) {
  const Runs runs = element_runs(operand);
  if (runs.length == 0) {
    return {{.first = begin, .runs = {.length = end - begin}}};
  }
  const auto size = static_cast<std::int64_t>(size_of(operand.dtype));
  const std::int64_t near_gap = runs.near_distance - runs.length;
  const std::int64_t far_gap = runs.far_distance - runs.group_extent();
  const bool near_gaps = runs.near_count > 1 && near_gap > 0;
  const bool far_gaps = runs.far_count > 1 && far_gap > 0;
  const bool is_nested = runs.far_count == 1 || far_gap >= 0;
  std::vector<Gaps> gaps{{.first = begin, .runs = {.length = -begin}}};
  if (near_gaps && is_nested) {
    gaps.push_back({.first = runs.length * size,
                    .runs = {.length = near_gap * size,
                             .near_count = runs.near_count - 1,
                             .near_distance = runs.near_distance * size,
                             .far_count = runs.far_count,
                             .far_distance = runs.far_distance * size}});
  }
  if (far_gaps) {
    gaps.push_back({.first = runs.group_extent() * size,
                    .runs = {.length = far_gap * size,
                             .near_count = runs.far_count - 1,
                             .near_distance = runs.far_distance * size}});
  }
  const std::int64_t behind = runs.extent() * size;
  gaps.push_back({.first = behind, .runs = {.length = end - behind}});
  std::erase_if(gaps, [](const Gaps& g) { return g.runs.length <= 0; });
  return gaps;
}

Position position_at(const Operand& operand, std::int64_t index) {
  Position position;
  const auto take = [&index](std::int64_t& place, std::int64_t count,
                             std::int64_t stride) {
    if (count > 1 && stride > 0) {
      place = std::min(index / stride, count - 1);
      index -= place * stride;
    }
  };
  if (is_interleaved(operand)) {
    take(position.outer, operand.outer, operand.outer_stride);
    take(position.batch, operand.batch, operand.batch_stride);
  } else {
    take(position.batch, operand.batch, operand.batch_stride);
    take(position.outer, operand.outer, operand.outer_stride);
  }
  position.inner = index;
  return position;
}

}  // namespace tunedops
