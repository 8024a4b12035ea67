// An algorithm of cuBLASLt in a file: TunableOp's own text, numbers that fit
// the library's fields, and none that the precision flags forbid.

#include "kernels/gemm/cuda/cublaslt_config.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

using Attribute = CublasltAttribute;

std::optional<CublasltConfig> read(std::string_view text) {
  const auto config = Config::from_text(text);
  EXPECT_TRUE(config.has_value()) << text;
  return config ? cublaslt_from_config(*config) : std::nullopt;
}

// A row that PyTorch's TunableOp wrote has this behind `Gemm_Cublaslt`.
constexpr std::string_view kOfTunableOp =
    "_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
    "_cluster_3";

TEST(CublasltConfig, TextIsThatOfTunableOp) {
  const auto x = read(kOfTunableOp);
  ASSERT_TRUE(x.has_value());
  EXPECT_EQ(x->id, 66);
  EXPECT_EQ((*x)[Attribute::kTile], 312U);
  EXPECT_EQ((*x)[Attribute::kStages], 35U);
  EXPECT_EQ((*x)[Attribute::kSplitK], 2U);
  EXPECT_EQ((*x)[Attribute::kReduction], 2U);
  EXPECT_EQ((*x)[Attribute::kSwizzle], 0U);
  EXPECT_EQ((*x)[Attribute::kCustom], 1U);
  EXPECT_EQ((*x)[Attribute::kInner], 0U);
  EXPECT_EQ((*x)[Attribute::kCluster], 3U);
  EXPECT_EQ(to_config(*x).to_text(), kOfTunableOp);
}

TEST(CublasltConfig, EveryAlgorithmLeadsBackToItself) {
  std::mt19937 random(31);
  for (int i = 0; i < 2000; ++i) {
    CublasltConfig x;
    x.id = static_cast<std::int32_t>(random() >> (1 + random() % 31));
    for (std::size_t j = 0; j < kCublasltAttributes; ++j) {
      const bool is_short = size_of(static_cast<Attribute>(j)) == 2;
      x.values[j] = static_cast<std::uint32_t>(
          (random() >> (1 + random() % 31)) & (is_short ? 0xffff : 0x7fffffff));
    }
    const auto text = Config::from_text(to_config(x).to_text());
    ASSERT_TRUE(text.has_value());
    const auto back = cublaslt_from_config(*text);
    ASSERT_TRUE(back.has_value()) << text->to_text();
    EXPECT_EQ(back->id, x.id);
    EXPECT_EQ(back->values, x.values);
  }
}

/// The text with one number replaced.
std::string with(std::string_view name, std::int64_t value) {
  std::string text(kOfTunableOp);
  const std::string label = '_' + std::string(name) + '_';
  const std::size_t begin = text.find(label) + label.size();
  const std::size_t end = text.find('_', begin);
  return text.replace(begin, end == std::string::npos ? end : end - begin,
                      std::to_string(value));
}

TEST(CublasltConfig, NumbersFitTheLibrarysFields) {
  constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();
  for (const char* name : {"id", "tile", "stages", "splitk", "red", "swizzle",
                           "custom", "inner", "cluster"}) {
    const bool is_short = std::string_view(name) == "inner" ||
                          std::string_view(name) == "cluster";
    const std::int64_t most = is_short ? 0xffff : kMostInt;
    EXPECT_TRUE(read(with(name, 0))) << name;
    EXPECT_TRUE(read(with(name, most))) << name;
    for (const std::int64_t value :
         {most + 1, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1,
          std::numeric_limits<std::int64_t>::max(), std::int64_t{-1},
          std::numeric_limits<std::int64_t>::min()}) {
      EXPECT_FALSE(read(with(name, value))) << name << ' ' << value;
    }
  }
}

TEST(CublasltConfig, OtherFormsAreRefused) {
  for (const char* text :
       {"", "_id_66",
        // the last, the first, one in the middle missing
        "_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0",
        "_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
        "_cluster_3",
        "_id_66_tile_312_stages_35_red_2_swizzle_0_custom_1_inner_0_cluster_3",
        // one too many
        "_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
        "_cluster_3_more_1",
        "_id_66_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1"
        "_inner_0_cluster_3",
        // another order, two values, another name
        "_tile_312_id_66_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
        "_cluster_3",
        "_id_66x1_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
        "_cluster_3",
        "_id_66_tiles_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0"
        "_cluster_3"}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

std::string refusal(std::uint16_t precision, std::uint32_t reduction,
                    DType out_dtype = DType::kBFloat16) {
  GemmProblem p = gpu_problem(64, 8, 128);
  p.out_dtype = out_dtype;
  p.header.precision = precision;
  CublasltConfig x = *read(kOfTunableOp);
  x[Attribute::kReduction] = reduction;
  return cublaslt_allowed(p, x).reason();
}

TEST(CublasltConfig, SplitsObeyThePrecisionFlags) {
  GemmProblem p;
  CublasltConfig x = *read(kOfTunableOp);
  for (const std::uint32_t splits : {0, 1, 2, 16}) {
    x[Attribute::kSplitK] = splits;
    p.header.precision = 0;
    EXPECT_TRUE(cublaslt_allowed(p, x).is_ok());
    p.header.precision = kNoSplitK;
    EXPECT_EQ(cublaslt_allowed(p, x).is_ok(), splits <= 1) << splits;
  }
}

TEST(CublasltConfig, ReductionsObeyThePrecisionFlags) {
  for (const std::uint32_t reduction : {0, 1, 2, 3, 4, 5, 7}) {
    const bool in_place = (reduction & kReduceInPlace) != 0;
    const bool narrow = (reduction & kReduceInOutputType) != 0;
    EXPECT_EQ(refusal(0, reduction), "");
    EXPECT_EQ(refusal(kAllowTf32 | kFp16Accumulation, reduction), "");
    EXPECT_EQ(refusal(kDeterministic, reduction),
              in_place ? "its reduction is not deterministic" : "");
    EXPECT_EQ(refusal(kFullPrecisionReduction, reduction),
              narrow ? "its reduction is of lower precision" : "");
    EXPECT_EQ(refusal(kFullPrecisionReduction, reduction, DType::kFloat32), "")
        << "the output's type is that of the sums";
  }
}

}  // namespace
}  // namespace tunedops::cuda
