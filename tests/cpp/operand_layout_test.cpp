// Which bytes of a region are elements of an operand: compared with a map that
// is painted element by element, for all kinds of layouts.

#include "tuning/operand_layout.h"

#include <string>

#include <gtest/gtest.h>

#include "layouts.h"

namespace tunedops {
namespace {

constexpr std::int64_t kAround = 5;

// '#' for each unit of an element, from `kAround` units before the base.
std::string painted(const Operand& operand, std::int64_t unit) {
  std::string map(
      static_cast<std::size_t>(operand.extent() * unit + 2 * kAround), '.');
  for (std::int64_t b = 0; b < operand.batch; ++b) {
    for (std::int64_t o = 0; o < operand.outer; ++o) {
      for (std::int64_t i = 0; i < operand.inner * unit; ++i) {
        map[static_cast<std::size_t>(kAround + operand.offset(b, o, 0) * unit +
                                     i)] = '#';
      }
    }
  }
  return map;
}

// Each unit may be painted once.
void paint(std::string& map, const Runs& runs, std::int64_t first,
           char colour) {
  for (std::int64_t run = 0; run < runs.count(); ++run) {
    for (std::int64_t i = 0; i < runs.length; ++i) {
      char& unit =
          map[static_cast<std::size_t>(kAround + first + runs.start(run) + i)];
      EXPECT_NE(unit, colour);
      unit = colour;
    }
  }
}

TEST(OperandLayout, RunsAreTheElements) {
  for (const Operand& operand : layouts()) {
    std::string map(painted(operand, 1).size(), '.');
    paint(map, element_runs(operand), 0, '#');
    EXPECT_EQ(map, painted(operand, 1));
    EXPECT_EQ(element_runs(operand).extent(), operand.extent());
  }
}

TEST(OperandLayout, GapsAreEverythingElse) {
  for (const Operand& operand : layouts()) {
    const std::int64_t unit = 2;
    std::string map(painted(operand, unit).size(), '#');
    for (const Gaps& gaps :
         gaps_between(operand, -kAround, operand.extent() * unit + kAround)) {
      paint(map, gaps.runs, gaps.first, '.');
    }
    EXPECT_EQ(map, painted(operand, unit));
  }
}

TEST(OperandLayout, WhatIsContiguousIsOneRun) {
  const auto runs = [](std::int64_t inner, std::int64_t outer,
                       std::int64_t outer_stride, std::int64_t batch,
                       std::int64_t batch_stride) {
    return element_runs(
        layout(inner, outer, outer_stride, batch, batch_stride));
  };
  EXPECT_EQ(runs(3, 4, 3, 2, 12), (Runs{.length = 24}));
  EXPECT_EQ(runs(3, 4, 12, 4, 3), (Runs{.length = 48})) << "interleaved";
  EXPECT_EQ(runs(1, 4000, 1, 1, 0), (Runs{.length = 4000}));
  EXPECT_EQ(runs(3, 4, 3, 2, 13),
            (Runs{.length = 12, .near_count = 2, .near_distance = 13}));
  EXPECT_EQ(runs(3, 1, 99, 2, 13),
            (Runs{.length = 3, .near_count = 2, .near_distance = 13}));
}

TEST(OperandLayout, PositionsAreFoundFromIndices) {
  for (const Operand& operand : layouts()) {
    for (std::int64_t b = 0; b < operand.batch; ++b) {
      for (std::int64_t o = 0; o < operand.outer; ++o) {
        for (std::int64_t i = 0; i < operand.inner; ++i) {
          const Position p = position_at(operand, operand.offset(b, o, i));
          EXPECT_EQ(p.batch, b);
          EXPECT_EQ(p.outer, o);
          EXPECT_EQ(p.inner, i);
        }
      }
    }
  }
}

// Matrices over one another (windows of a signal), as inputs may be.
TEST(OperandLayout, OverlappingMatricesHaveNoGapsWithin) {
  const Operand windows = layout(4, 3, 6, 5, 1);
  for (const Gaps& gaps : gaps_between(windows, -8, 64)) {
    EXPECT_TRUE(gaps.first < 0 || gaps.first >= 2 * windows.extent());
  }
  EXPECT_EQ(element_runs(windows).count(), 15);
}

TEST(OperandLayout, NothingHasNoRuns) {
  const Operand none = layout(0, 3, 4, 2, 12);
  EXPECT_EQ(element_runs(none).length, 0);
  const auto gaps = gaps_between(none, -8, 8);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].first, -8);
  EXPECT_EQ(gaps[0].runs, Runs{.length = 16});
}

// 64 bits throughout.
TEST(OperandLayout, HugeOperandsDoNotWrap) {
  const std::int64_t many = std::int64_t{1} << 20;
  const Operand huge = layout(many, many, many + 1, 3, many * (many + 2));
  const Runs runs = element_runs(huge);
  EXPECT_EQ(runs.count(), 3 * many);
  EXPECT_EQ(runs.start(runs.count() - 1), huge.offset(2, many - 1, 0));
  const Position last = position_at(huge, huge.extent() - 1);
  EXPECT_EQ(last.batch, 2);
  EXPECT_EQ(last.outer, many - 1);
  EXPECT_EQ(last.inner, many - 1);
}

}  // namespace
}  // namespace tunedops
