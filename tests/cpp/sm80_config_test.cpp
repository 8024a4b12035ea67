// The configs of Gemm_Sm80: names that live in users' files, which problems it
// takes, and how much memory a block and the splits of one have.

#include "kernels/gemm/cuda/sm80_config.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr Sm80Limits kAmpere{.multiprocessors = 108,
                             .shared_bytes = (163 << 10) - 256,
                             .workspace_cap = std::size_t{32} << 20};
constexpr Sm80Limits kSmall{.multiprocessors = 58,
                            .shared_bytes = (99 << 10) - 256,
                            .workspace_cap = std::size_t{4} << 20};

std::string reason(const GemmProblem& p) {
  return sm80_supports(p, kAmpere).reason();
}

bool takes(const GemmProblem& p, std::string_view text,
           const Sm80Limits& limits = kAmpere) {
  const auto config = Config::from_text(text);
  EXPECT_TRUE(config.has_value()) << text;
  return config && sm80_from_config(p, limits, *config).has_value();
}

TEST(Sm80Config, NamesAreThoseOfFiles) {
  EXPECT_EQ(to_config(Sm80Parameters{}).to_text(),
            "_tile_128x128x32_stages_4_splitk_1_turned_0");
  const GemmProblem p = gpu_problem(1000, 1000, 1000);
  for (const char* text : {"_tile_128x128x32_stages_4_splitk_1_turned_0",
                           "_tile_128x128x32_stages_2_splitk_1_turned_1",
                           "_tile_128x64x32_stages_3_splitk_2_turned_0",
                           "_tile_64x128x32_stages_6_splitk_1_turned_1",
                           "_tile_64x64x32_stages_8_splitk_3_turned_1"}) {
    const auto x = sm80_from_config(p, kAmpere, *Config::from_text(text));
    ASSERT_TRUE(x.has_value()) << text;
    EXPECT_EQ(to_config(*x).to_text(), text);
  }
}

TEST(Sm80Config, WhatCannotRunIsRefused) {
  const GemmProblem p = gpu_problem(1000, 1000, 1000);
  for (const char* text :
       {"",
        "_tile_128x128x32",
        "_tile_128x128x32_stages_4_splitk_1",
        "_tile_128x128x32_splitk_1_stages_4_turned_0",
        "_tile_128x128x32_stages_4_splitk_1_turned_0_more_1",
        "_tile_128x128_stages_4_splitk_1_turned_0",
        "_tile_128x128x32x1_stages_4_splitk_1_turned_0",
        "_tile_128x128x64_stages_4_splitk_1_turned_0",
        "_tile_256x128x32_stages_4_splitk_1_turned_0",
        "_tile_128x64x32_stages_4_splitk_1_turned_1",
        "_tile_64x128x32_stages_4_splitk_1_turned_0",
        "_tile_0x0x32_stages_4_splitk_1_turned_0",
        "_tile_-128x-128x32_stages_4_splitk_1_turned_0",
        "_tile_4294967424x128x32_stages_4_splitk_1_turned_0",
        "_tile_128x128x32_stages_1_splitk_1_turned_0",
        "_tile_128x128x32_stages_0_splitk_1_turned_0",
        "_tile_128x128x32_stages_9_splitk_1_turned_0",
        "_tile_128x128x32_stages_4294967300_splitk_1_turned_0",
        "_tile_128x128x32_stages_4x4_splitk_1_turned_0",
        "_tile_128x128x32_stages_4_splitk_0_turned_0",
        "_tile_128x128x32_stages_4_splitk_-1_turned_0",
        "_tile_128x128x32_stages_4_splitk_65_turned_0",
        "_tile_128x128x32_stages_4_splitk_9223372036854775807_turned_0",
        "_tile_128x128x32_stages_4_splitk_1_turned_2",
        "_tile_128x128x32_stages_4_splitk_1_turned_-1"}) {
    EXPECT_FALSE(takes(p, text)) << text;
  }
}

TEST(Sm80Config, StagesFitABlocksMemory) {
  const GemmProblem p = gpu_problem(4096, 4096, 4096);
  EXPECT_TRUE(takes(p, "_tile_128x128x32_stages_8_splitk_1_turned_0"));
  EXPECT_TRUE(takes(p, "_tile_128x128x32_stages_6_splitk_1_turned_0", kSmall));
  EXPECT_FALSE(takes(p, "_tile_128x128x32_stages_7_splitk_1_turned_0", kSmall));
  for (const Sm80Limits& limits : {kAmpere, kSmall}) {
    for (const Sm80Parameters& x : all_sm80_parameters(p, limits)) {
      EXPECT_LE(sm80_block_bytes(p, x), limits.shared_bytes);
    }
  }
  const Sm80Parameters large{.tile_m = 128, .tile_n = 128};
  EXPECT_EQ(sm80_usual_stages(p, large, kAmpere), 4);
  EXPECT_EQ(sm80_usual_stages(p, large, kSmall), 3);
  EXPECT_EQ(all_sm80_parameters(p, kSmall).front().stages, 4)
      << "the smallest tile's";
}

TEST(Sm80Config, StagesOfOperandsThatAreNotAlignedAreLarger) {
  const Sm80Parameters x{.tile_m = 64, .tile_n = 128, .stages = 3};
  const auto bytes = [&](const char* layout, int lda, int ldb) {
    GemmProblem p = laid_out(4096, 4096, 4096, layout);
    p.lda += lda;
    p.ldb += ldb;
    return static_cast<int>(sm80_block_bytes(p, x) / 3);
  };
  constexpr int kAligned = 2 * 32 * (64 + 128);
  constexpr int kChunk = 16;
  EXPECT_EQ(bytes("nt", 0, 0), kAligned);
  EXPECT_EQ(bytes("nt", 1, 0), kAligned + kChunk * 32);
  EXPECT_EQ(bytes("nt", 0, 4), kAligned + kChunk * 32);
  EXPECT_EQ(bytes("nt", 1, 1), kAligned + kChunk * 64);
  EXPECT_EQ(bytes("tt", 1, 1), kAligned + kChunk * (64 + 32));
  EXPECT_EQ(bytes("nn", 0, 2), kAligned + kChunk * 128);
  EXPECT_EQ(bytes("tn", 1, 0), kAligned + kChunk * (64 + 128));
  GemmProblem p = gpu_problem(4096, 4096, 4096);
  p.lda = 4097;
  EXPECT_TRUE(takes(p, "_tile_128x128x32_stages_4_splitk_1_turned_0", kSmall));
  EXPECT_FALSE(takes(p, "_tile_128x128x32_stages_5_splitk_1_turned_0", kSmall));
  const Sm80Parameters large{.tile_m = 128, .tile_n = 128};
  EXPECT_EQ(sm80_usual_stages(p, large, kAmpere), 4);
  EXPECT_EQ(sm80_usual_stages(p, large, kSmall), 2);
}

TEST(Sm80Config, SplitsNeedIdleMultiprocessorsWorkspaceAndAK) {
  const auto most_splits = [](const GemmProblem& p,
                              const Sm80Limits& limits = kAmpere) {
    int most = 0;
    for (const Sm80Parameters& x : all_sm80_parameters(p, limits)) {
      most = std::max(most, x.splits);
      EXPECT_LE(sm80_splits(p, x).workspace_bytes(), limits.workspace_cap);
    }
    return most;
  };
  Sm80Limits no_workspace = kAmpere;
  no_workspace.workspace_cap = 0;
  EXPECT_EQ(most_splits(gpu_problem(8192, 8192, 4096)), 1);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 65536)), 64);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 65536), no_workspace), 1);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 65)), 3);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 32)), 1);
  GemmProblem unsplit = gpu_problem(128, 128, 65536);
  unsplit.header.precision = kNoSplitK;
  EXPECT_EQ(most_splits(unsplit), 1);
  EXPECT_FALSE(takes(unsplit, "_tile_64x64x32_stages_4_splitk_2_turned_0"));
}

TEST(Sm80Config, SplitsNeedACounterForEachTile) {
  constexpr std::int64_t kMost = kMostCounters;
  Sm80Limits roomy = kAmpere;
  roomy.workspace_cap = std::size_t{1} << 40;
  const char* text = "_tile_64x64x32_stages_4_splitk_2_turned_0";
  EXPECT_TRUE(takes(gpu_problem(64 * kMost, 64, 64), text, roomy));
  EXPECT_FALSE(takes(gpu_problem(64 * kMost + 1, 64, 64), text, roomy));
  EXPECT_TRUE(takes(in_batches(gpu_problem(64, 64, 64), kMost), text, roomy));
  EXPECT_FALSE(
      takes(in_batches(gpu_problem(64, 64, 64), kMost + 1), text, roomy));
}

TEST(Sm80Config, WorkspaceHoldsEverySplitOfEveryTile) {
  const GemmProblem p = gpu_problem(100, 300, 4096);
  Sm80Parameters x{.tile_m = 128, .tile_n = 64};
  EXPECT_EQ(sm80_splits(p, x).tiles, 5);
  EXPECT_EQ(sm80_splits(p, x).workspace_bytes(), 0U);
  x.splits = 3;
  EXPECT_EQ(sm80_splits(p, x).workspace_bytes(),
            sizeof(float) * 5 * 3 * 128 * 64);
  EXPECT_EQ(sm80_splits(in_batches(p, 7), x).workspace_bytes(),
            sizeof(float) * 7 * 5 * 3 * 128 * 64);
}

TEST(Sm80Layout, WhereLinesOfBothAreAlongKBothAreTreatedAlike) {
  const auto are_aligned = [](int lda, int ldb, const char* layout) {
    GemmProblem p = laid_out(256, 256, 256, layout);
    p.lda = lda;
    p.ldb = ldb;
    const HalfLayout found = sm80_layout(p);
    return std::pair{found.a.is_aligned, found.b.is_aligned};
  };
  EXPECT_EQ(are_aligned(256, 256, "tn"), (std::pair{true, true}));
  EXPECT_EQ(are_aligned(257, 256, "tn"), (std::pair{false, false}));
  EXPECT_EQ(are_aligned(256, 260, "tn"), (std::pair{false, false}));
  EXPECT_EQ(are_aligned(257, 256, "tt"), (std::pair{false, true}));
  EXPECT_EQ(are_aligned(256, 257, "nt"), (std::pair{true, false}));
}

TEST(Sm80Supports, EveryLeadingDimensionAndAlignmentOfElements) {
  for (const char* layout : kLayouts) {
    for (const int ld : {0, 1, 100, 257, 1000}) {
      GemmProblem p = in_batches(laid_out(256, 256, 256, layout), 3);
      p.lda = p.ldb = ld;
      p.stride_a = 7;
      p.stride_b = 0;
      p.align_a = p.align_b = p.align_out = 2;
      EXPECT_EQ(reason(p), "");
    }
  }
  EXPECT_EQ(reason(gpu_problem(1, 1, 1)), "");
}

TEST(Sm80Supports, SaysWhyNot) {
  const auto after = [](auto change) {
    GemmProblem p = gpu_problem(256, 256, 256);
    change(p);
    return reason(p);
  };
  EXPECT_EQ(after([](auto& x) { x.b_dtype = DType::kFloat16; }),
            "a and b are not of one type, or out is neither of it nor float");
  EXPECT_EQ(after([](auto& x) { x.m = x.n = (1 << 30) - 1; }),
            "the product has too many tiles");
}

}  // namespace
}  // namespace tunedops::cuda
