// Which problems Gemm_Skinny takes, which side of them it calls the wide one,
// and when it reads operands by 16 bytes. A mistake in the last is a misaligned
// access on the GPU, which ends the process.

#include "kernels/gemm/cuda/skinny_config.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

TEST(SkinnyVariant, TheLongerSideIsWide) {
  EXPECT_TRUE(skinny_variant(gpu_problem(64, 3, 128)).wide_is_a);
  EXPECT_FALSE(skinny_variant(gpu_problem(3, 64, 128)).wide_is_a);
  EXPECT_TRUE(skinny_variant(gpu_problem(8, 8, 128)).wide_is_a);
}

TEST(SkinnyVariant, KIsContiguousInTheWideOperandOrNot) {
  for (const bool a_is_wide : {true, false}) {
    for (const bool transpose_a : {true, false}) {
      for (const bool transpose_b : {true, false}) {
        GemmProblem p = gpu_problem(a_is_wide ? 64 : 8, a_is_wide ? 8 : 64, 128,
                                    transpose_a);
        p.transpose_b = transpose_b;
        p.ldb = transpose_b ? p.n : p.k;
        EXPECT_EQ(skinny_variant(p).k_is_contiguous,
                  a_is_wide ? transpose_a : !transpose_b);
        EXPECT_EQ(skinny_variant(p).narrow_is_vector,
                  a_is_wide ? !transpose_b : transpose_a);
      }
    }
  }
}

/// Whether the wide and the narrow operand are read by 16 bytes.
struct Vectors {
  bool wide;
  bool narrow;
  bool operator==(const Vectors&) const = default;
};

template <class Change>
Vectors vectors_after(GemmProblem p, const Change& change) {
  change(p);
  const SkinnyVariant v = skinny_variant(p);
  return {v.wide_is_vector, v.narrow_is_vector};
}

TEST(SkinnyVariant, VectorsNeedAlignedAddressesAndLeadingDimensions) {
  const GemmProblem p = gpu_problem(64, 8, 128);
  const auto none = [](GemmProblem&) {};
  EXPECT_EQ(vectors_after(p, none), (Vectors{true, true}));
  for (const int align : {2, 4, 8}) {
    const auto small = static_cast<std::uint8_t>(align);
    EXPECT_EQ(vectors_after(p, [&](auto& x) { x.align_a = small; }),
              (Vectors{false, true}));
    EXPECT_EQ(vectors_after(p, [&](auto& x) { x.align_b = small; }),
              (Vectors{true, false}));
    EXPECT_EQ(vectors_after(p, [&](auto& x) { x.align_out = small; }),
              (Vectors{true, true}));
  }
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.lda += 4; }),
            (Vectors{false, true}));
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.ldb += 4; }),
            (Vectors{true, false}));
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.lda += 8, x.ldb += 16; }),
            (Vectors{true, true}));
  const GemmProblem fp32 = gpu_problem(64, 8, 128, true, DType::kFloat32);
  EXPECT_EQ(vectors_after(fp32, [](auto& x) { x.lda += 4, x.ldb += 4; }),
            (Vectors{true, true}));
  EXPECT_EQ(vectors_after(fp32, [](auto& x) { x.lda += 2, x.ldb += 1; }),
            (Vectors{false, false}));
}

TEST(SkinnyVariant, VectorsNeedAlignedBatchStrides) {
  const GemmProblem p = in_batches(gpu_problem(64, 8, 128), 3);
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.stride_a += 4; }),
            (Vectors{false, true}));
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.stride_b += 4; }),
            (Vectors{true, false}));
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.stride_c += 1; }),
            (Vectors{true, true}));
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.stride_a = x.stride_b = 0; }),
            (Vectors{true, true}));
  // The stride of a batch of one is never used.
  EXPECT_EQ(vectors_after(p, [](auto& x) { x.batch = 1, x.stride_a = 7; }),
            (Vectors{true, true}));
}

TEST(SkinnyVariant, ContiguousRowsMustEndAtAVector) {
  for (const std::int64_t rows : {64, 72, 60, 65}) {
    GemmProblem p = gpu_problem(rows, 8, 128, /*transpose_a=*/false);
    p.lda = 80;
    EXPECT_EQ(skinny_variant(p).wide_is_vector, rows % 8 == 0) << rows;
    p = gpu_problem(rows, 8, 128, false, DType::kFloat32);
    p.lda = 80;
    EXPECT_EQ(skinny_variant(p).wide_is_vector, rows % 4 == 0) << rows;
  }
}

template <class Change>
std::string refusal(const Change& change) {
  GemmProblem p = gpu_problem(64, 8, 128);
  change(p);
  return skinny_supports(p).reason();
}

TEST(SkinnySupport, TakesItsTypesWithEitherOutputAndBias) {
  for (const DType dtype :
       {DType::kBFloat16, DType::kFloat16, DType::kFloat32}) {
    for (const DType out : {dtype, DType::kFloat32}) {
      for (const DType bias : {DType::kNone, dtype, DType::kFloat32}) {
        GemmProblem p = gpu_problem(64, 8, 128, true, dtype);
        p.out_dtype = out;
        p.bias_dtype = bias;
        p.activation = Activation::kGelu;
        p.alpha = p.beta = ScalarClass::kAny;
        EXPECT_EQ(skinny_supports(p).reason(), "");
        EXPECT_EQ(skinny_supports(in_batches(p, 5)).reason(), "");
      }
    }
  }
}

TEST(SkinnySupport, SaysWhichTypesItLacks) {
  for (const DType dtype :
       {DType::kFloat64, DType::kComplex64, DType::kComplex128}) {
    EXPECT_EQ(
        refusal([&](auto& p) { p.a_dtype = p.b_dtype = p.out_dtype = dtype; }),
        "the type is not BFloat16, Half or float");
  }
  const std::string operands =
      "a and b are not of one type, or out is neither of it nor float";
  EXPECT_EQ(refusal([](auto& p) { p.b_dtype = DType::kFloat16; }), operands);
  EXPECT_EQ(refusal([](auto& p) { p.out_dtype = DType::kFloat16; }), operands);
  EXPECT_EQ(refusal([](auto& p) { p.bias_dtype = DType::kFloat16; }),
            "the bias is neither of a's type nor float");
  for (bool GemmProblem::* flag :
       {&GemmProblem::conjugate_a, &GemmProblem::conjugate_b}) {
    EXPECT_EQ(refusal([&](auto& p) { p.*flag = true; }),
              "conjugated operands are not supported");
  }
}

TEST(SkinnySupport, SaysWhichSizesItLacks) {
  for (std::int64_t GemmProblem::* size :
       {&GemmProblem::m, &GemmProblem::n, &GemmProblem::k,
        &GemmProblem::batch}) {
    for (const std::int64_t value : {0, -1}) {
      EXPECT_EQ(refusal([&](auto& p) { p.*size = value; }),
                "the product is empty");
    }
  }
  EXPECT_EQ(refusal([](auto& p) { p.n = 32; }), "");
  EXPECT_EQ(refusal([](auto& p) { p.n = 33; }),
            "neither m nor n is in 1 to 32");
  EXPECT_EQ(refusal([](auto& p) { p.m = 1, p.n = 33; }), "");
  constexpr std::int64_t kMostBlocks = 0x7fffffff;
  const auto batch = [](std::int64_t count) {
    return [count](GemmProblem& p) { p.m = 16, p.batch = count; };
  };
  EXPECT_EQ(refusal(batch(kMostBlocks)), "");
  EXPECT_EQ(refusal(batch(kMostBlocks + 1)), "the batch is too large");
  EXPECT_EQ(refusal(batch(std::int64_t{1} << 40)), "the batch is too large");
}

// Elements are loaded whole, so one that begins inside of another would end the
// process with an error of the GPU that nothing survives.
TEST(SkinnySupport, ElementsMustBeAligned) {
  const std::string misaligned = "an operand is not aligned to its elements";
  for (std::uint8_t GemmProblem::* align :
       {&GemmProblem::align_a, &GemmProblem::align_b,
        &GemmProblem::align_out}) {
    EXPECT_EQ(refusal([&](auto& p) { p.*align = 1; }), misaligned);
    EXPECT_EQ(refusal([&](auto& p) { p.*align = 2; }), "");
    GemmProblem p = gpu_problem(64, 8, 128, true, DType::kFloat32);
    p.*align = 2;
    EXPECT_EQ(skinny_supports(p).reason(), misaligned);
    p.*align = 4;
    EXPECT_EQ(skinny_supports(p).reason(), "");
  }
  EXPECT_EQ(refusal([](auto& p) { p.align_bias = 1; }), "");
  EXPECT_EQ(refusal([](auto& p) {
              p.bias_dtype = DType::kFloat32;
              p.align_bias = 2;
            }),
            misaligned);
}

}  // namespace
}  // namespace tunedops::cuda
