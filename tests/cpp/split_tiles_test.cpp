// How many blocks compute the tiles of an output, and what they take: a mistake
// is a launch that fails or memory that is written beyond its end.

#include "kernels/gemm/cuda/split_tiles.h"

#include <limits>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr std::int64_t kSteps = 64;  // along k
constexpr std::size_t kCap = std::size_t{1} << 40;

constexpr SplitTiles kInMemory{.tile = {128, 64},
                               .tiles = 5,
                               .batch = 7,
                               .splits = 3,
                               .meet_in_memory = true};

bool can_be(const SplitTiles& x, std::int64_t k_steps = kSteps,
            std::size_t cap = kCap) {
  return can_split(gpu_problem(64, 64, 64), x, k_steps, cap);
}

TEST(SplitTiles, MemoryHoldsEverySplitOfEveryTile) {
  EXPECT_EQ(kInMemory.blocks(), 5 * 7 * 3);
  EXPECT_EQ(kInMemory.counters(), 5U * 7);
  EXPECT_EQ(kInMemory.workspace_bytes(), sizeof(float) * 5 * 7 * 3 * 128 * 64);
  SplitTiles in_cluster = kInMemory;
  in_cluster.meet_in_memory = false;
  EXPECT_EQ(in_cluster.blocks(), 5 * 7 * 3);
  EXPECT_EQ(in_cluster.counters(), 0U);
  EXPECT_EQ(in_cluster.workspace_bytes(), 0U);
}

TEST(SplitTiles, StreamsHaveTwoPlacesEachAndACounterForEachTileTheyGoThrough) {
  const SplitTiles x{.tile = {128, 64}, .tiles = 50, .batch = 2, .streams = 30};
  EXPECT_EQ(x.blocks(), 30);
  EXPECT_EQ(x.streamed(), 40) << "two rounds of whole tiles less";
  EXPECT_EQ(x.counters(), 40U);
  EXPECT_EQ(x.workspace_bytes(), sizeof(float) * 2 * 30 * 128 * 64);
  EXPECT_TRUE(can_be(x));
  SplitTiles even = x;
  even.streams = 25;
  EXPECT_FALSE(can_be(even)) << "no tile is left over";
}

TEST(SplitTiles, NoMoreStreamsMeetInATileThanSplitsMay) {
  const auto can_stream = [](int tiles, int streams, std::int64_t k_steps) {
    return can_be({.tile = {128, 64}, .tiles = tiles, .streams = streams},
                  k_steps);
  };
  EXPECT_TRUE(can_stream(1, 62, 62 * 4));
  EXPECT_FALSE(can_stream(1, 64, 64 * 4));
  // Streams of one step and of two: the last tiles have those of one.
  EXPECT_FALSE(can_stream(10, 620, 112));
  EXPECT_TRUE(can_stream(10, 560, 112 * 2)) << "four steps each";
  EXPECT_FALSE(can_stream(5001, 5000, 64)) << "as many as there are counters";
}

TEST(SplitTiles, EverySplitHasAStep) {
  EXPECT_TRUE(can_be(kInMemory, 3));
  EXPECT_FALSE(can_be(kInMemory, 2));
  for (const int splits : {-1, 0, 65, std::numeric_limits<int>::max()}) {
    SplitTiles x = kInMemory;
    x.splits = splits;
    EXPECT_FALSE(can_be(x, 1 << 30)) << splits;
  }
}

TEST(SplitTiles, WhatMeetsInMemoryFitsTheWorkspace) {
  const std::size_t bytes = kInMemory.workspace_bytes();
  EXPECT_TRUE(can_be(kInMemory, kSteps, bytes));
  EXPECT_FALSE(can_be(kInMemory, kSteps, bytes - 1));
  SplitTiles other = kInMemory;
  other.meet_in_memory = false;
  EXPECT_TRUE(can_be(other, kSteps, 0));
}

TEST(SplitTiles, TilesThatAreSplitAreAtMostAsManyAsCounters) {
  constexpr std::int64_t kMost = kMostCounters;
  SplitTiles x = kInMemory;
  x.tiles = kMost / 4;
  x.batch = 4;
  EXPECT_TRUE(can_be(x));
  x.tiles += 1;
  EXPECT_FALSE(can_be(x));
  x.splits = 1;
  x.meet_in_memory = false;
  EXPECT_TRUE(can_be(x));
}

TEST(SplitTiles, AProblemMayForbidToSplit) {
  GemmProblem p = gpu_problem(64, 64, 64);
  p.header.precision = kNoSplitK;
  EXPECT_FALSE(can_split(p, kInMemory, kSteps, kCap));
  EXPECT_TRUE(can_split(p, {.tiles = 5, .batch = 7}, kSteps, kCap));
}

TEST(SplitTiles, BlocksAreAtMostThoseOfALaunch) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_TRUE(can_be({.tiles = kMost}));
  EXPECT_FALSE(can_be({.tiles = kMost + 1}));
  EXPECT_TRUE(can_be({.tiles = kMost / 2, .batch = 2}));
  EXPECT_FALSE(can_be({.tiles = kMost / 2 + 1, .batch = 2}));
  EXPECT_FALSE(can_be({.tiles = std::int64_t{1} << 48, .batch = 1 << 29}));
}

}  // namespace
}  // namespace tunedops::cuda
