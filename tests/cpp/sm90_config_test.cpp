// The configs of Gemm_Sm90: names that live in users' files, which problems it
// takes, and how it reads operands. A mistake in the last is a tensor that the
// driver refuses, or an access beyond an operand.

#include "kernels/gemm/cuda/sm90_config.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "kernels/gemm/cuda/sm90_stage.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr int kMultiprocessors = 132;
constexpr std::size_t kCap = std::size_t{32} << 20;

std::string reason(const GemmProblem& p, std::size_t cap = kCap) {
  return sm90_supports(p, cap).reason();
}

bool takes(const GemmProblem& p, std::string_view text,
           std::size_t cap = kCap) {
  const auto config = Config::from_text(text);
  EXPECT_TRUE(config.has_value()) << text;
  return config && sm90_from_config(p, cap, *config).has_value();
}

TEST(Sm90Config, NamesAreThoseOfFiles) {
  EXPECT_EQ(
      to_config({}).to_text(),
      "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0");
  const GemmProblem p = gpu_problem(4096, 4096, 4096);
  for (const char* text :
       {"_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0",
        "_tile_128x256x64_cluster_2x1x1_stages_3_splitk_1_turned_0_packed_0",
        "_tile_128x64x64_cluster_1x2x1_stages_8_splitk_3_turned_1_packed_0",
        "_tile_64x128x64_cluster_1x1x1_stages_2_splitk_1_turned_0_packed_0"}) {
    const auto x = sm90_from_config(p, kCap * 8, *Config::from_text(text));
    ASSERT_TRUE(x.has_value()) << text;
    EXPECT_EQ(to_config(*x).to_text(), text);
  }
}

TEST(Sm90Config, WhatCannotRunIsRefused) {
  const GemmProblem p = gpu_problem(4096, 4096, 4096);
  for (const char* text :
       {"_tile_256x128x32_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0",
        "_tile_256x256x64_cluster_1x1x1_stages_2_splitk_1_turned_0_packed_0",
        "_tile_128x64x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0",
        "_tile_256x128x64_cluster_2x2x1_stages_4_splitk_1_turned_0_packed_0",
        "_tile_256x128x64_cluster_4x1x1_stages_4_splitk_1_turned_0_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_5_splitk_1_turned_0_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_1_splitk_1_turned_0_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_0_turned_0_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_65_turned_0_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_2_packed_0",
        "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1",
        "_tile_256x128x64x1_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_"
        "0"}) {
    EXPECT_FALSE(takes(p, text, kCap * 64)) << text;
  }
}

TEST(Sm90Config, StagesFillABlocksMemory) {
  const GemmProblem p = gpu_problem(4096, 4096, 4096);
  for (const Sm90Parameters& x :
       all_sm90_parameters(p, kMultiprocessors, kCap)) {
    const auto bytes = [&](int stages) {
      return sm90_shared_bytes(sm90_stage_bytes(p, x), stages,
                               sm90_strips_bytes(1));
    };
    EXPECT_LE(bytes(x.stages), std::size_t{227} << 10);
    EXPECT_TRUE(x.stages == 8 ||
                bytes(x.stages + 1) > (std::size_t{227} << 10) - 128);
    EXPECT_GE(x.stages, 4);
  }
}

TEST(Sm90Config, SplitsNeedIdleMultiprocessorsWorkspaceAndAK) {
  const auto most_splits = [](const GemmProblem& p, std::size_t cap = kCap) {
    int most = 0;
    for (const Sm90Parameters& x :
         all_sm90_parameters(p, kMultiprocessors, cap)) {
      most = std::max(most, x.splits);
      EXPECT_LE(sm90_splits(p, x).workspace_bytes(), cap);
    }
    return most;
  };
  EXPECT_EQ(most_splits(gpu_problem(8192, 8192, 4096)), 1);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 65536)), 64);
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 65536), 0), 8) << "in a cluster";
  EXPECT_EQ(most_splits(gpu_problem(128, 128, 100)), 2);
  GemmProblem unsplit = gpu_problem(128, 128, 65536);
  unsplit.header.precision = kNoSplitK;
  EXPECT_EQ(most_splits(unsplit), 1);
}

TEST(Sm90Config, UnalignedOperandsTakeMoreMemory) {
  const GemmProblem aligned = gpu_problem(4096, 4096, 4096);
  const GemmProblem unaligned = gpu_problem(4096, 4096, 4095);
  const char* const four_stages =
      "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0";
  const char* const two_stages =
      "_tile_256x128x64_cluster_1x1x1_stages_2_splitk_1_turned_0_packed_0";
  EXPECT_TRUE(takes(aligned, four_stages));
  EXPECT_FALSE(takes(unaligned, four_stages));
  EXPECT_TRUE(takes(unaligned, two_stages));
}

TEST(Sm90Config, SplitsMeetInAClusterOrInMemory) {
  const GemmProblem p = gpu_problem(512, 512, 4096);
  const auto named = [](const char* cluster, int splits, int stages = 4) {
    return "_tile_256x128x64_cluster_" + std::string(cluster) + "_stages_" +
           std::to_string(stages) + "_splitk_" + std::to_string(splits) +
           "_turned_0_packed_0";
  };
  EXPECT_TRUE(takes(p, named("1x1x1", 4)));
  EXPECT_TRUE(takes(p, named("1x1x4", 4), 0)) << "takes no workspace";
  EXPECT_FALSE(takes(p, named("1x1x1", 4), 0));
  EXPECT_FALSE(takes(p, named("1x1x2", 4))) << "all of them or none";
  EXPECT_FALSE(takes(p, named("1x1x9", 9))) << "clusters are of eight at most";
  EXPECT_FALSE(takes(p, named("2x1x4", 4))) << "they share nothing else";
  EXPECT_FALSE(takes(p, named("1x1x4", 4, 2)))
      << "the sums do not fit where the stages were";
}

TEST(Sm90Packed, OperandsThatAreNotAlignedAreCopied) {
  constexpr std::size_t kElement = 2;
  const Sm90Parameters packed{.stages = 4, .packed = true};
  GemmProblem p = gpu_problem(1000, 500, 1001);
  EXPECT_EQ(sm90_packed(p, {}).bytes(), 0U);
  // Lines of 1001 elements of both become lines of 1024.
  EXPECT_EQ(sm90_packed(p, packed).a_bytes, 1000 * 1024 * kElement);
  EXPECT_EQ(sm90_packed(p, packed).b_bytes, 500 * 1024 * kElement);
  EXPECT_EQ(sm90_layout(p, packed).a.line_stride, 1024);
  EXPECT_EQ(sm90_layout(p, {}).a.line_stride, 1001);
  EXPECT_TRUE(sm90_layout(p, packed).a.is_aligned);
  EXPECT_EQ(sm90_stage_bytes(p, packed),
            sm90_stage_bytes(gpu_problem(1000, 500, 1000), {}))
      << "nothing is shifted";
  p.lda = 1008;  // so it is only b
  EXPECT_EQ(sm90_packed(p, packed).a_bytes, 0U);
  EXPECT_EQ(sm90_layout(p, packed).a.line_stride, 1008);
  p = in_batches(gpu_problem(64, 64, 1001), 8);
  EXPECT_EQ(sm90_packed(p, packed).a_bytes, 8 * 64 * 1024 * kElement);
  EXPECT_EQ(sm90_layout(p, packed).a.matrix_stride, 64 * 1024);
  p.stride_a = 0;
  EXPECT_EQ(sm90_packed(p, packed).a_bytes, 64 * 1024 * kElement)
      << "the same matrix for all";
  EXPECT_EQ(sm90_layout(p, packed).a.matrix_stride, 0);
  EXPECT_EQ(sm90_packed(gpu_problem(100, 100, 13), packed).a_bytes % 256, 0U);
}

TEST(Sm90Packed, LinesBeginWhereLinesOfTheCacheDoUnlessThatCostsMuch) {
  EXPECT_EQ(packed_pitch(4097), 4160);
  EXPECT_EQ(packed_pitch(479), 512);
  EXPECT_EQ(packed_pitch(449), 512) << "an eighth more";
  EXPECT_EQ(packed_pitch(447), 448);
  EXPECT_EQ(packed_pitch(385), 392) << "448 would be more than an eighth";
  EXPECT_EQ(packed_pitch(13), 16);
  EXPECT_EQ(packed_pitch(64), 64);
}

TEST(Sm90Packed, NeedsSomethingToPackAndRoomForIt) {
  const char* const text =
      "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_1";
  EXPECT_FALSE(takes(gpu_problem(4096, 4096, 4096), text)) << "is aligned";
  GemmProblem p = gpu_problem(4096, 4096, 4095);
  EXPECT_TRUE(takes(p, text));
  p.workspace_mib = 64;
  EXPECT_TRUE(takes(p, text)) << "exactly enough";
  p.workspace_mib = 63;
  EXPECT_FALSE(takes(p, text));
  EXPECT_FALSE(takes(gpu_problem(4096, 80000, 4095), text))
      << "no copies are so large";
}

TEST(Sm90Packed, SizesOfAnyRowOfAFileAreRefusedAndNotMultiplied) {
  const char* const text =
      "_tile_128x64x64_cluster_1x1x1_stages_8_splitk_1_turned_1_packed_1";
  constexpr int kMost = std::numeric_limits<int>::max();
  GemmProblem p = in_batches(gpu_problem(64, 64, 4095), 1 << 26);
  EXPECT_FALSE(takes(p, text));
  GemmProblem large = gpu_problem(131073, 64, 131073);
  large.workspace_mib = 65535;
  EXPECT_FALSE(takes(large, text)) << "32 GiB, more than a copy counts";
  p.k = p.lda = p.ldb = kMost;  // 2^64 bytes, which are 0 as an integer
  p.stride_a = p.stride_b = std::int64_t{1} << 36;
  EXPECT_FALSE(takes(p, text));
  EXPECT_TRUE(takes(gpu_problem(64, 64, 4095), text));
}

TEST(Sm90Packed, LiesBehindWhatSplitsNeed) {
  const GemmProblem p = gpu_problem(512, 512, 4095);
  Sm90Parameters x{.stages = 4, .splits = 3, .packed = true};
  EXPECT_EQ(sm90_splits_bytes(p, x), sm90_splits(p, x).workspace_bytes());
  EXPECT_EQ(sm90_splits_bytes(p, x) % kSm90PackedAlign, 0U);
  x.splits = 1;
  EXPECT_EQ(sm90_splits_bytes(p, x), 0U);
}

TEST(Sm90Output, IsWrittenByTheCopyEngineIfItIsPlainAndAligned) {
  const auto writes = [](auto change) {
    GemmProblem p = gpu_problem(256, 512, 64);
    change(p);
    return sm90_writes_boxes(p);
  };
  EXPECT_TRUE(writes([](auto&) {}));
  EXPECT_TRUE(writes([](auto& p) { p.activation = Activation::kRelu; }));
  EXPECT_TRUE(writes([](auto& p) { p.alpha = ScalarClass::kAny; }));
  EXPECT_FALSE(writes([](auto& p) { p.beta = ScalarClass::kOne; }));
  EXPECT_FALSE(writes([](auto& p) { p.activation = Activation::kGelu; }));
  EXPECT_FALSE(writes([](auto& p) { p.out_dtype = DType::kFloat32; }));
  EXPECT_FALSE(writes([](auto& p) { p.align_out = 8; }));
  EXPECT_TRUE(writes([](auto& p) { p.ldc = 520; }));
  EXPECT_FALSE(writes([](auto& p) { p.ldc = 516; }));
  EXPECT_FALSE(writes([](auto& p) { p.m = 252; }))
      << "what is behind the lines would be overwritten";
  EXPECT_TRUE(writes([](auto& p) { p.n = 1, p.ldc = 516; })) << "one line";
  EXPECT_TRUE(writes([](auto& p) { p.stride_c = 4; })) << "one matrix";
  EXPECT_FALSE(writes([](auto& p) { p.batch = 2, p.stride_c = 131076; }));
  EXPECT_TRUE(writes([](auto& p) { p.batch = 2, p.stride_c = 131072; }));
}

TEST(Sm90Output, HasTwoBuffersWhereThereIsRoom) {
  const GemmProblem p = gpu_problem(4096, 4096, 4096);
  EXPECT_EQ(sm90_strip_buffers(p, {.stages = 4}), 2);
  EXPECT_EQ(sm90_strip_buffers(p, {.tile_m = 192, .tile_n = 128, .stages = 5}),
            1);
  GemmProblem unaligned = p;
  unaligned.ldc = 4097;
  EXPECT_EQ(sm90_strip_buffers(unaligned, {.stages = 4}), 1) << "strips only";
}

const char* const kAside =
    "_tile_192x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0_aside_"
    "1";

TEST(Sm90Aside, TakesOutputsThatTheCopyEngineCannotWrite) {
  EXPECT_FALSE(takes(gpu_problem(4096, 4096, 768), kAside))
      << "the copy engine does it";
  GemmProblem p = gpu_problem(50257, 4096, 768);
  EXPECT_TRUE(takes(p, kAside));
  p.activation = Activation::kRelu;
  EXPECT_TRUE(takes(p, kAside));
  p.activation = Activation::kGelu;
  EXPECT_FALSE(takes(p, kAside));
  p = gpu_problem(50257, 4096, 768);
  p.beta = ScalarClass::kOne;
  EXPECT_FALSE(takes(p, kAside));
  p = gpu_problem(50257, 4096, 768);
  p.out_dtype = DType::kFloat32;
  EXPECT_FALSE(takes(p, kAside));
}

TEST(Sm90Aside, NeedsWarpsThatShiftNothing) {
  const GemmProblem p = gpu_problem(50257, 4096, 767);
  EXPECT_FALSE(takes(p, kAside));
  EXPECT_TRUE(takes(p, "_tile_192x128x64_cluster_1x1x1_stages_4_splitk_1_"
                       "turned_0_packed_1_aside_1"));
}

TEST(Sm90Aside, TakesWholeTilesWhoseRowsAreNotTurned) {
  const GemmProblem p = gpu_problem(50257, 4096, 768);
  EXPECT_FALSE(takes(p, "_tile_192x128x64_cluster_1x1x1_stages_5_splitk_1_"
                        "turned_0_packed_0_aside_1"))
      << "results need room";
  EXPECT_FALSE(takes(p, "_tile_128x192x64_cluster_1x1x1_stages_4_splitk_1_"
                        "turned_1_packed_0_aside_1"));
  EXPECT_FALSE(takes(p, "_tile_192x128x64_cluster_1x1x1_stages_4_splitk_2_"
                        "turned_0_packed_0_aside_1"));
  EXPECT_FALSE(takes(p, "_tile_192x128x64_cluster_1x1x1_stages_4_splitk_1_"
                        "turned_0_packed_0_aside_0"))
      << "it is named where it is so";
}

TEST(Sm90Aside, IsOfferedWhereBlocksHaveSeveralTiles) {
  const auto offers = [](const GemmProblem& p) {
    return std::ranges::any_of(all_sm90_parameters(p, kMultiprocessors, kCap),
                               [](const Sm90Parameters& x) { return x.aside; });
  };
  EXPECT_TRUE(offers(gpu_problem(50257, 4096, 768)));
  EXPECT_TRUE(offers(gpu_problem(2049, 2049, 2049)));
  EXPECT_FALSE(offers(gpu_problem(513, 513, 513)));
  EXPECT_FALSE(offers(gpu_problem(4096, 4096, 768)));
}

Config with_streams(int streams, int cluster_m = 1) {
  return to_config({.tile_m = 256,
                    .tile_n = 128,
                    .cluster_m = cluster_m,
                    .streams = streams});
}

bool can_stream(const GemmProblem& p, const Config& config,
                std::size_t cap = kCap) {
  return sm90_from_config(p, cap, config).has_value();
}

TEST(Sm90Streams, AreNamedWhereBlocksShareSteps) {
  EXPECT_EQ(with_streams(132).to_text(),
            "_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_"
            "0_streamk_132");
  const GemmProblem p = gpu_problem(4096, 1024, 4096);  // 128 tiles
  EXPECT_TRUE(can_stream(p, with_streams(132)));
  EXPECT_TRUE(can_stream(p, with_streams(132, 2)));
  EXPECT_TRUE(can_stream(p, with_streams(100)));
  EXPECT_TRUE(can_stream(p, with_streams(132), 0))
      << "they have a cap of their own";
}

TEST(Sm90Streams, TakeWhatIsLeftOverOnly) {
  const GemmProblem p = gpu_problem(4096, 1024, 4096);
  EXPECT_FALSE(can_stream(p, with_streams(64))) << "whole rounds";
  EXPECT_FALSE(can_stream(p, with_streams(33, 2))) << "half a cluster";
  EXPECT_FALSE(can_stream(p, with_streams(0).with("streamk", -132)));
  EXPECT_FALSE(can_stream(p, with_streams(0).with("streamk", 0)))
      << "it is named where it is so";
  EXPECT_TRUE(can_stream(gpu_problem(256, 128, 15872), with_streams(62)));
  EXPECT_FALSE(can_stream(gpu_problem(256, 128, 15872), with_streams(66)))
      << "more than may meet in a tile";
  EXPECT_FALSE(can_stream(gpu_problem(4096, 1024, 64), with_streams(132)))
      << "one would have no step";
  EXPECT_FALSE(can_stream(p, with_streams(132).with("aside", 1)));
  GemmProblem unsplit = p;
  unsplit.header.precision = kNoSplitK;
  EXPECT_FALSE(can_stream(unsplit, with_streams(132)));
  GemmProblem capped = p;
  capped.workspace_mib = 32;
  EXPECT_FALSE(can_stream(capped, with_streams(132))) << "33 MiB";
  EXPECT_TRUE(can_stream(capped, with_streams(126)));
}

TEST(Sm90Streams, AreOfferedWhereOtherBlocksWouldBeIdle) {
  const auto offers = [](const GemmProblem& p) {
    return std::ranges::any_of(
        all_sm90_parameters(p, kMultiprocessors, kCap),
        [](const Sm90Parameters& x) { return x.streams > 0; });
  };
  EXPECT_TRUE(offers(gpu_problem(4096, 1024, 4096)));
  EXPECT_TRUE(offers(gpu_problem(2048, 2048, 4096)));
  EXPECT_FALSE(offers(gpu_problem(16384, 16384, 4096))) << "not worth it";
  EXPECT_FALSE(offers(gpu_problem(64, 64, 65536))) << "splits do as well";
}

TEST(Sm90Supports, MatricesOfABatchAreMultiplesOf16BytesApart) {
  GemmProblem p = in_batches(gpu_problem(128, 128, 128), 5);
  EXPECT_EQ(reason(p), "");
  p.stride_a += 1;
  EXPECT_NE(reason(p), "");
  p.stride_a = 0;
  EXPECT_EQ(reason(p), "");
}

TEST(Sm90Config, OnlyWhatIsAlignedIsShared) {
  // Tiles of a cluster that lie along m have the second operand in common.
  const char* const along_m =
      "_tile_256x128x64_cluster_2x1x1_stages_2_splitk_1_turned_0_packed_0";
  const char* const along_n =
      "_tile_256x128x64_cluster_1x2x1_stages_2_splitk_1_turned_0_packed_0";
  GemmProblem p = gpu_problem(4096, 4096, 4096);
  EXPECT_TRUE(takes(p, along_m));
  EXPECT_TRUE(takes(p, along_n));
  p.lda = 4097;
  EXPECT_TRUE(takes(p, along_m));
  EXPECT_FALSE(takes(p, along_n));
  p.ldb = 4097;
  EXPECT_FALSE(takes(p, along_m));
}

TEST(Sm90Supports, SaysWhyNot) {
  const auto after = [](auto change) {
    GemmProblem p = gpu_problem(256, 256, 256);
    change(p);
    return reason(p);
  };
  EXPECT_EQ(after([](auto&) {}), "");
  EXPECT_EQ(after([](auto& x) { x.b_dtype = DType::kFloat16; }),
            "a and b are not of one type, or out is neither of it nor float");
  EXPECT_EQ(after([](auto& x) { x.lda = 100; }), "lines of an operand overlap");
  EXPECT_EQ(after([](auto& x) { x.ldb = std::int64_t{1} << 36; }),
            "lines or matrices of an operand are 2^36 elements apart or more");
  EXPECT_EQ(after([](auto& x) { x.m = x.n = (1 << 30) - 1; }),
            "the product has too many tiles");
}

TEST(Sm90Config, OnlyLargeUnalignedProductsAreTrustedUnmeasured) {
  EXPECT_FALSE(sm90_surely_wins(gpu_problem(4096, 4096, 4096)));
  EXPECT_TRUE(sm90_surely_wins(gpu_problem(4095, 4096, 4096)));
  EXPECT_TRUE(sm90_surely_wins(gpu_problem(4096, 4096, 4095)));
  EXPECT_FALSE(sm90_surely_wins(gpu_problem(255, 256, 256)));
  EXPECT_FALSE(sm90_surely_wins(gpu_problem(50257, 8, 4096)));
}

TEST(Sm90Config, TilesAreWholeClusters) {
  const GemmProblem p = gpu_problem(1000, 300, 64);
  EXPECT_EQ(sm90_splits(p, {.tile_m = 256, .tile_n = 128}).tiles, 4 * 3);
  EXPECT_EQ(
      sm90_splits(p, {.tile_m = 256, .tile_n = 128, .cluster_n = 2}).tiles,
      4 * 4);
  EXPECT_EQ(
      sm90_splits(p, {.tile_m = 192, .tile_n = 128, .cluster_m = 2}).tiles,
      6 * 3);
}

}  // namespace
}  // namespace tunedops::cuda
