// The model of what tiles cost: not whether its numbers are right, which only a
// GPU knows, but whether it prefers what anybody would.

#include "kernels/gemm/cuda/cublaslt_cost.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

constexpr int kMultiprocessors = 132;
constexpr double kMemory = 4e6;  // bytes a microsecond

double total(const GemmProblem& problem, const Tiling& tiling, int splits = 1,
             double bytes_per_us = kMemory) {
  const TilingCost cost(problem, kMultiprocessors, bytes_per_us);
  return cost.total_us(tiling, cost.step_us(tiling), splits);
}

/// Of so many blocks of 128x128 in a row, each with much to do, without what
/// memory and the launch take.
double work(std::int64_t blocks, TileSize cluster = {1, 1}) {
  const Tiling tiling{.tile = {128, 128}, .cluster = cluster, .consumers = 1};
  const TilingCost cost(gpu_problem(128 * blocks, 128, 1 << 17),
                        kMultiprocessors, 1e12);
  const TilingCost nothing(gpu_problem(1, 1, 1), kMultiprocessors, 1e12);
  return cost.total_us(tiling, 1, 1) - nothing.total_us(tiling, 0, 1);
}

TEST(CublasltCost, BlocksComeInWaves) {
  const double one = work(1);
  EXPECT_NEAR(work(132) / one, 1, 0.01);
  EXPECT_NEAR(work(133) / one, 2, 0.01);
  EXPECT_NEAR(work(264) / one, 2, 0.01);
  EXPECT_NEAR(work(265) / one, 3, 0.01);
}

TEST(CublasltCost, LargeClustersLeaveMultiprocessorsIdle) {
  const double one = work(1);
  for (const TileSize cluster : {TileSize{4, 1}, {2, 2}, {1, 4}}) {
    // Along n there is one block, so whatever is beside it is idle.
    const std::int64_t most = 124 / cluster.n;
    EXPECT_NEAR(work(most, cluster) / one, 1, 0.01) << cluster.n;
    EXPECT_NEAR(work(128 / cluster.n, cluster) / one, 2, 0.01) << cluster.n;
  }
  EXPECT_NEAR(work(132, {2, 1}) / one, 1, 0.01);
  EXPECT_NEAR(work(120, {8, 1}) / one, 1, 0.01);
  EXPECT_NEAR(work(128, {8, 1}) / one, 2, 0.01);
  EXPECT_NEAR(work(112, {16, 1}) / one, 1, 0.01);
  EXPECT_NEAR(work(128, {16, 1}) / one, 2, 0.01);
}

TEST(CublasltCost, SplitsFillAWaveAndNoMore) {
  const auto splits = [](std::int64_t m, TileSize cluster) {
    const TilingCost cost(gpu_problem(m, 64, 1 << 17), kMultiprocessors, 1e12);
    return cost.splits_of_a_wave(
        {.tile = {64, 64}, .cluster = cluster, .consumers = 1});
  };
  EXPECT_EQ(splits(64, {1, 1}), 132);
  EXPECT_EQ(splits(4 * 64, {1, 1}), 33);
  EXPECT_EQ(splits(64, {2, 1}), 66) << "one of two blocks is idle";
  EXPECT_EQ(splits(4 * 64, {4, 1}), 31);
  EXPECT_EQ(splits(133 * 64, {1, 1}), 0);
}

TEST(CublasltCost, AClusterIsWhole) {
  const double one = work(1);
  // 121 blocks are 31 clusters of four, and no more fit.
  EXPECT_NEAR(work(121, {4, 1}) / one, 1, 0.01);
  EXPECT_NEAR(work(125, {4, 1}) / one, 2, 0.01);
}

TEST(CublasltCost, AClusterLargerThanTheGpuStillRuns) {
  const TilingCost small(gpu_problem(1024, 1024, 1024), 4, kMemory);
  const Tiling tiling{.tile = {128, 128}, .cluster = {16, 1}, .consumers = 1};
  EXPECT_TRUE(std::isfinite(small.total_us(tiling, 1, 1)));
}

TEST(CublasltCost, ClustersShareWhatTheyBring) {
  const TilingCost cost(gpu_problem(4096, 4096, 4096), kMultiprocessors,
                        kMemory);
  const auto step = [&](TileSize tile, TileSize cluster) {
    return cost.step_us({.tile = tile, .cluster = cluster, .consumers = 1});
  };
  EXPECT_LT(step({64, 64}, {2, 1}), step({64, 64}, {1, 1}));
  EXPECT_LT(step({64, 64}, {2, 2}), step({64, 64}, {2, 1}));
  EXPECT_LT(step({64, 256}, {2, 1}), step({64, 256}, {1, 2}))
      << "the long side is shared along the other direction";
}

TEST(CublasltCost, LargerTilesTakeLongerAndDoMore) {
  const TilingCost cost(gpu_problem(4096, 4096, 4096), kMultiprocessors,
                        kMemory);
  double last = 0;
  double last_rate = 0;
  for (const int side : {16, 32, 64, 128, 256}) {
    const double step = cost.step_us({.tile = {side, side}});
    EXPECT_GE(step, last) << side;
    EXPECT_GT(side * side / step, last_rate) << side;
    last = step;
    last_rate = side * side / step;
  }
}

TEST(CublasltCost, MoreWorkTakesNoLess) {
  std::mt19937 random(11);
  const auto up_to = [&](int most) {
    return static_cast<std::int64_t>(1 + random() % most);
  };
  for (int i = 0; i < 5000; ++i) {
    const GemmProblem problem = in_batches(
        gpu_problem(up_to(8192), up_to(8192), up_to(16384)), up_to(20));
    const Tiling tiling{
        .tile = tile_size(static_cast<std::uint32_t>(up_to(634))),
        .cluster = cluster_size(1 + static_cast<std::uint32_t>(up_to(15))),
        .consumers = static_cast<int>(up_to(2))};
    const int splits = static_cast<int>(up_to(32));
    const double before = total(problem, tiling, splits);
    for (std::int64_t GemmProblem::* length :
         {&GemmProblem::m, &GemmProblem::n, &GemmProblem::k,
          &GemmProblem::batch}) {
      GemmProblem larger = problem;
      larger.*length += up_to(1000);
      EXPECT_GE(total(larger, tiling, splits), before);
    }
    EXPECT_GE(total(problem, tiling, splits, kMemory / 2), before);
  }
}

TEST(CublasltCost, MuchMoreWorkTakesLonger) {
  const GemmProblem problem = in_batches(gpu_problem(1024, 1024, 4096), 4);
  for (std::int64_t GemmProblem::* length :
       {&GemmProblem::m, &GemmProblem::n, &GemmProblem::k,
        &GemmProblem::batch}) {
    GemmProblem larger = problem;
    larger.*length *= 8;
    EXPECT_GT(total(larger, {}), 3 * total(problem, {}));
  }
}

TEST(CublasltCost, MemoryBoundsWhatHasLittleToMultiply) {
  const GemmProblem problem = gpu_problem(65536, 8, 65536);
  const double memory_us = 65536.0 * 65536 * 2 / kMemory;
  const Tiling tiling{.tile = {64, 8}, .cluster = {1, 1}, .consumers = 1};
  EXPECT_GT(total(problem, tiling), memory_us);
  GemmProblem wide = problem;
  wide.a_dtype = wide.b_dtype = wide.out_dtype = DType::kFloat32;
  EXPECT_GT(total(wide, tiling), 2 * memory_us);
}

/// The best number of splits.
int best_splits(const GemmProblem& problem) {
  int best = 1;
  for (int splits = 2; splits <= 128; ++splits) {
    if (total(problem, {}, splits) < total(problem, {}, best)) {
      best = splits;
    }
  }
  return best;
}

TEST(CublasltCost, SplittingPaysForFewTilesAndALongK) {
  EXPECT_GE(best_splits(gpu_problem(128, 128, 1 << 16)), 16);
  EXPECT_GE(best_splits(gpu_problem(256, 256, 1 << 14)), 4);
  EXPECT_LT(3 * total(gpu_problem(128, 128, 1 << 16), {}, 32),
            total(gpu_problem(128, 128, 1 << 16), {}));
}

TEST(CublasltCost, SplittingDoesNotPayForManyTilesNorAShortK) {
  EXPECT_EQ(best_splits(gpu_problem(4096, 4096, 4096)), 1);
  EXPECT_EQ(best_splits(gpu_problem(16384, 16384, 16384)), 1);
  EXPECT_EQ(best_splits(gpu_problem(128, 128, 64)), 1);
  EXPECT_EQ(best_splits(in_batches(gpu_problem(128, 128, 1024), 4096)), 1);
}

// k is cut into steps: more splits than steps are idle.
TEST(CublasltCost, MoreSplitsThanStepsGainNothing) {
  const GemmProblem problem = gpu_problem(128, 128, 512);
  EXPECT_GT(total(problem, {}, 16), total(problem, {}, 8));
}

TEST(CublasltCost, ExtremesAreFiniteAndPositive) {
  const std::int64_t k = std::int64_t{1} << 31;
  for (const GemmProblem& problem :
       {gpu_problem(1, 1, 1), gpu_problem(16384, 16384, 16384),
        gpu_problem(1, 1, k), gpu_problem(k, 1, 1), gpu_problem(1, k, 1),
        gpu_problem(k, k, k), in_batches(gpu_problem(1, 1, 1), 1000000),
        in_batches(gpu_problem(4096, 4096, 4096), 1000000)}) {
    for (const DType dtype : {DType::kBFloat16, DType::kFloat32,
                              DType::kFloat64, DType::kComplex128}) {
      GemmProblem typed = problem;
      typed.a_dtype = typed.b_dtype = typed.out_dtype = dtype;
      for (const TileSize tile : {TileSize{8, 8}, {128, 8}, {512, 1024}}) {
        for (const TileSize cluster : {TileSize{1, 1}, {16, 1}, {1, 16}}) {
          for (const int splits : {1, 2, 128}) {
            const double us =
                total(typed, {.tile = tile, .cluster = cluster, .consumers = 2},
                      splits);
            EXPECT_TRUE(std::isfinite(us));
            EXPECT_GT(us, 0);
            // As a prediction it is a float of milliseconds.
            EXPECT_TRUE(std::isfinite(static_cast<float>(us / 1e3)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tunedops::cuda
