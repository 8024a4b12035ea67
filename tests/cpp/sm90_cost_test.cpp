// What the model of Gemm_Sm90's costs has to get right: which of two configs is
// the better one where that is beyond doubt, as it was measured on an H200.

#include "kernels/gemm/cuda/sm90_cost.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

double us(const GemmProblem& p, const Sm90Parameters& x) {
  return sm90_cost_us(p, x, 132, 4.8e6);
}

constexpr Sm90Parameters kLarge{.tile_m = 128, .tile_n = 256, .stages = 4};
constexpr Sm90Parameters kSmall{.tile_m = 64, .tile_n = 128, .stages = 8};

Sm90Parameters packed(Sm90Parameters x) {
  x.packed = true;
  return x;
}

Sm90Parameters split(Sm90Parameters x, int splits, bool in_cluster) {
  x.splits = splits;
  x.cluster_k = in_cluster ? splits : 1;
  return x;
}

TEST(Sm90Cost, LargeProductsWantLargeTiles) {
  const GemmProblem large = gpu_problem(4096, 4096, 4096);
  EXPECT_LT(us(large, kLarge), us(large, kSmall));
  const GemmProblem small = gpu_problem(512, 512, 512);
  EXPECT_LT(us(small, kSmall), us(small, kLarge));
}

TEST(Sm90Cost, LargeProductsThatAreNotAlignedArePacked) {
  const GemmProblem large = gpu_problem(4096, 4096, 4095);
  EXPECT_LT(us(large, packed(kLarge)), 0.7 * us(large, kLarge));
  EXPECT_GT(us(large, packed(kLarge)),
            us(gpu_problem(4096, 4096, 4096), kLarge))
      << "which costs as much as reading the operands";
}

TEST(Sm90Cost, FewTilesAreSplitAndMeetInClusters) {
  const GemmProblem p = gpu_problem(128, 256, 8192);
  EXPECT_LT(us(p, split(kSmall, 8, false)), us(p, kSmall));
  EXPECT_LT(us(p, split(kSmall, 4, true)), us(p, kSmall));
  const GemmProblem wide = gpu_problem(2048, 2048, 8192);
  EXPECT_GT(us(wide, split(kSmall, 8, false)), us(wide, kSmall));
}

TEST(Sm90Cost, SplitsOfAClusterCostWhatATileDoes) {
  // Short sums, so that it is not the steps that differ.
  const GemmProblem p = gpu_problem(128, 256, 512);
  const auto added = [&](const Sm90Parameters& x) {
    return us(p, split(x, 8, true)) - us(p, x);
  };
  EXPECT_GT(added(kLarge), added(kSmall));
}

TEST(Sm90Cost, StreamsPayWhereARoundIsNearlyEmpty) {
  const auto streamed = [](Sm90Parameters x) {
    x.streams = 132;
    return x;
  };
  constexpr Sm90Parameters kTall{.tile_m = 256, .tile_n = 128, .stages = 4};
  const GemmProblem p = gpu_problem(256 * 67, 128 * 2, 8192);  // 134 tiles
  EXPECT_LT(us(p, streamed(kTall)), 0.75 * us(p, kTall));
  const GemmProblem full = gpu_problem(256 * 65, 128 * 2, 8192);
  EXPECT_GT(us(full, streamed(kTall)), us(full, kTall));
}

TEST(Sm90Cost, WritingAsideCostsLittle) {
  const GemmProblem p = gpu_problem(50257, 4096, 768);
  Sm90Parameters aside = kLarge;
  aside.aside = true;
  EXPECT_LT(us(p, aside), us(p, kLarge));
}

TEST(Sm90Cost, NothingIsFasterThanMemory) {
  const GemmProblem p = gpu_problem(16, 65536, 8192);
  const double bytes = 2.0 * (65536.0 * 8192 + 16.0 * 8192 + 16.0 * 65536);
  EXPECT_GT(us(p, kSmall), bytes / 4.8e6);
}

TEST(Sm90Cost, LinesThatBeginAnywhereTakeLongerToWrite) {
  GemmProblem p = gpu_problem(4096, 4096, 256);
  const double aligned = us(p, kLarge);
  p.ldc = 4097;
  EXPECT_GT(us(p, kLarge), aligned);
}

}  // namespace
}  // namespace tunedops::cuda
