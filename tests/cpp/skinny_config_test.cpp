// The configs of Gemm_Skinny: names that live in users' files, what is offered,
// and that a config from a hostile file is refused before it reaches a launch.

#include "kernels/gemm/cuda/skinny_config.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr SkinnyLimits kHopper{.multiprocessors = 132,
                               .most_cluster = kMostCluster};
constexpr SkinnyLimits kAmpere{.multiprocessors = 108, .most_cluster = 1};

std::optional<SkinnyParameters> read(const GemmProblem& problem,
                                     std::string_view text,
                                     const SkinnyLimits& limits = kHopper) {
  const auto config = Config::from_text(text);
  EXPECT_TRUE(config.has_value()) << text;
  return config ? skinny_from_config(problem, limits, *config) : std::nullopt;
}

TEST(SkinnyConfig, NamesAreThoseOfFilesThatExist) {
  EXPECT_EQ(to_config({}).to_text(), "_rows_16_warps_1x8_splitk_1_cluster_1");
  const SkinnyParameters clustered{
      .rows = 32, .warps_wide = 2, .warps_k = 4, .splits = 8, .cluster = 8};
  EXPECT_EQ(to_config(clustered).to_text(),
            "_rows_32_warps_2x4_splitk_8_cluster_8");
  const GemmProblem linear = gpu_problem(4096, 8, 4096);
  for (const char* text : {"_rows_16_warps_1x4_splitk_1_cluster_1",
                           "_rows_16_warps_1x8_splitk_2_cluster_2",
                           "_rows_32_warps_1x4_splitk_8_cluster_8",
                           "_rows_32_warps_1x2_splitk_16_cluster_1",
                           "_rows_16_warps_2x1_splitk_4_cluster_1"}) {
    const auto x = read(linear, text);
    ASSERT_TRUE(x.has_value()) << text;
    EXPECT_EQ(to_config(*x).to_text(), text);
  }
  const GemmProblem rows_contiguous = gpu_problem(4096, 8, 4096, false);
  EXPECT_TRUE(read(rows_contiguous, "_rows_64_warps_1x4_splitk_2_cluster_2"));
  const GemmProblem fp32 = gpu_problem(4096, 8, 4096, false, DType::kFloat32);
  EXPECT_TRUE(read(fp32, "_rows_32_warps_1x4_splitk_2_cluster_2"));
}

TEST(SkinnyConfig, RowsAreThoseThatAVariantIsCompiledFor) {
  const auto takes = [](const GemmProblem& p, int rows) {
    return read(p, "_rows_" + std::to_string(rows) +
                       "_warps_1x2_splitk_1_cluster_1")
        .has_value();
  };
  GemmProblem unaligned = gpu_problem(4096, 8, 4096);
  unaligned.align_b = 2;
  for (const int rows : {1, 8, 15, 16, 17, 32, 48, 64, 128}) {
    EXPECT_EQ(takes(gpu_problem(4096, 8, 4096), rows), rows == 16 || rows == 32)
        << rows;
    EXPECT_EQ(takes(unaligned, rows), rows == 16) << rows;
    EXPECT_EQ(takes(gpu_problem(4096, 8, 4096, false), rows), rows == 64)
        << rows;
    EXPECT_EQ(takes(gpu_problem(4096, 8, 4096, false, DType::kFloat32), rows),
              rows == 32)
        << rows;
  }
}

TEST(SkinnyConfig, HostileConfigsAreRefused) {
  const GemmProblem p = gpu_problem(4096, 8, 4096);
  ASSERT_TRUE(read(p, "_rows_16_warps_1x8_splitk_2_cluster_2"));
  for (const char* text :
       {"",
        "_rows_16",
        "_rows_16_warps_1x8",
        "_rows_16_warps_1x8_splitk_2",
        "_rows_16_warps_1x8_cluster_2",
        "_rows_16_splitk_2_cluster_2",
        "_warps_1x8_splitk_2_cluster_2",
        "_rows_16_warps_1x8_splitk_2_cluster_2_more_1",
        "_rows_16_rows_16_warps_1x8_splitk_2_cluster_2",
        "_warps_1x8_rows_16_splitk_2_cluster_2",
        "_rows_16_warps_1x8_cluster_2_splitk_2",
        "_rows_16x1_warps_1x8_splitk_2_cluster_2",
        "_rows_16_warps_8_splitk_2_cluster_2",
        "_rows_16_warps_1x8x1_splitk_2_cluster_2",
        "_rows_0_warps_1x8_splitk_2_cluster_2",
        "_rows_-16_warps_1x8_splitk_2_cluster_2",
        "_rows_16_warps_0x8_splitk_2_cluster_2",
        "_rows_16_warps_1x0_splitk_2_cluster_2",
        "_rows_16_warps_-1x-8_splitk_2_cluster_2",
        "_rows_16_warps_1x8_splitk_0_cluster_0",
        "_rows_16_warps_1x8_splitk_-2_cluster_-2",
        "_rows_16_warps_1x8_splitk_2_cluster_0",
        "_rows_16_warps_1x8_splitk_4_cluster_2",
        "_rows_16_warps_1x8_splitk_2_cluster_4",
        "_rows_16_warps_1x9_splitk_1_cluster_1",
        "_rows_16_warps_3x3_splitk_1_cluster_1",
        "_rows_16_warps_1x8_splitk_65_cluster_1",
        "_rows_16_warps_1x8_splitk_16_cluster_16",
        "_rows_4294967312_warps_1x8_splitk_2_cluster_2",
        "_rows_16_warps_4294967297x8_splitk_2_cluster_2",
        "_rows_16_warps_1048576x1048576_splitk_1_cluster_1",
        "_rows_16_warps_9223372036854775807x9223372036854775807_splitk_"
        "9223372036854775807_cluster_9223372036854775807",
        "_rows_16_warps_1x8_splitk_4294967298_cluster_1"}) {
    EXPECT_FALSE(read(p, text)) << text;
  }
}

TEST(SkinnyConfig, NoSplitIsEmpty) {
  // Splits are whole multiples of 128 ks: of 300, three have some.
  const GemmProblem p = gpu_problem(4096, 8, 300);
  EXPECT_TRUE(read(p, "_rows_16_warps_1x4_splitk_3_cluster_3"));
  EXPECT_FALSE(read(p, "_rows_16_warps_1x4_splitk_4_cluster_4"));
  EXPECT_FALSE(read(p, "_rows_16_warps_1x4_splitk_4_cluster_1"));
  EXPECT_FALSE(
      read(gpu_problem(4096, 8, 128), "_rows_16_warps_1x4_splitk_2_cluster_2"));
  EXPECT_TRUE(
      read(gpu_problem(4096, 8, 129), "_rows_16_warps_1x4_splitk_2_cluster_2"));
}

TEST(SkinnyConfig, NothingIsSplitWhereThatIsNotAllowed) {
  GemmProblem p = gpu_problem(64, 8, 32768);
  EXPECT_TRUE(read(p, "_rows_16_warps_1x8_splitk_16_cluster_1"));
  p.header.precision = kNoSplitK;
  EXPECT_FALSE(read(p, "_rows_16_warps_1x8_splitk_16_cluster_1"));
  for (const SkinnyParameters& x : skinny_parameters(p, kHopper)) {
    EXPECT_EQ(x.splits, 1);
  }
}

// A vector is read by 16 bytes, however its problem says that it lies.
TEST(SkinnyConfig, AVectorIsContiguousEitherWay) {
  GemmProblem p = gpu_problem(4096, 1, 4096);
  p.transpose_b = true;
  p.ldb = 1;
  EXPECT_TRUE(skinny_variant(p).narrow_is_vector);
  p.ldb = 3;
  EXPECT_FALSE(skinny_variant(p).narrow_is_vector);
}

TEST(SkinnyConfig, OnlySplitsThroughMemoryNeedCounters) {
  constexpr std::int64_t kMost = kMostCounters;
  const std::string memory = "_rows_16_warps_1x4_splitk_2_cluster_1";
  const std::string cluster = "_rows_16_warps_1x4_splitk_2_cluster_2";
  const GemmProblem most = gpu_problem(16 * kMost, 8, 4096);
  const GemmProblem more = gpu_problem(16 * kMost + 1, 8, 4096);
  EXPECT_TRUE(read(most, memory));
  EXPECT_FALSE(read(more, memory));
  EXPECT_TRUE(read(more, cluster));
  EXPECT_TRUE(read(in_batches(gpu_problem(16, 8, 4096), kMost), memory));
  EXPECT_FALSE(read(in_batches(gpu_problem(16, 8, 4096), kMost + 1), memory));
}

TEST(SkinnyConfig, WithoutClustersThereAreNone) {
  const GemmProblem p = gpu_problem(4096, 8, 4096);
  EXPECT_FALSE(read(p, "_rows_16_warps_1x8_splitk_2_cluster_2", kAmpere));
  EXPECT_TRUE(read(p, "_rows_16_warps_1x8_splitk_2_cluster_1", kAmpere));
  for (const std::int64_t m : {64, 512, 4096, 65536}) {
    for (const SkinnyParameters& x :
         skinny_parameters(gpu_problem(m, 8, 8192), kAmpere)) {
      EXPECT_EQ(x.cluster, 1);
    }
  }
}

TEST(SkinnyConfig, FewTilesAreSplitAndManyAreNot) {
  const auto most_splits = [](std::int64_t m, const SkinnyLimits& limits) {
    int most = 0;
    for (const auto& x : skinny_parameters(gpu_problem(m, 8, 8192), limits)) {
      most = std::max(most, x.splits);
    }
    return most;
  };
  EXPECT_GT(most_splits(256, kHopper), 1);
  EXPECT_GT(most_splits(256, kAmpere), 1);
  EXPECT_EQ(most_splits(1 << 20, kHopper), 1);
  EXPECT_EQ(most_splits(1 << 20, kAmpere), 1);
}

TEST(SkinnyConfig, WorkspaceHoldsEverySplitOfEveryTile) {
  GemmProblem p = gpu_problem(100, 5, 4096);
  SkinnyParameters x{.rows = 32, .warps_k = 4, .splits = 4};
  EXPECT_EQ(skinny_tiles(p, x), 4);
  EXPECT_EQ(skinny_splits(p, x).workspace_bytes(),
            sizeof(float) * 4 * 4 * 32 * 5);
  EXPECT_EQ(skinny_splits(in_batches(p, 3), x).workspace_bytes(),
            sizeof(float) * 3 * 4 * 4 * 32 * 5);
  x.warps_wide = 2;
  EXPECT_EQ(skinny_tiles(p, x), 2);
  EXPECT_EQ(skinny_splits(p, x).workspace_bytes(),
            sizeof(float) * 2 * 4 * 64 * 5);
  x.cluster = 4;
  EXPECT_EQ(skinny_splits(p, x).workspace_bytes(), 0U);
  x.splits = x.cluster = 1;
  EXPECT_EQ(skinny_splits(p, x).workspace_bytes(), 0U);
}

TEST(SkinnyConfig, ColumnsAreComputedInTiles) {
  for (int narrow = 1; narrow <= kMostNarrow; ++narrow) {
    EXPECT_GE(padded_narrow(narrow), narrow);
    EXPECT_EQ(padded_narrow(narrow) % 8, 0);
  }
  EXPECT_EQ(padded_narrow(8), 8);
  EXPECT_EQ(padded_narrow(9), 16);
  EXPECT_EQ(padded_narrow(17), 32);
}

}  // namespace
}  // namespace tunedops::cuda
