// Which products of 16-bit types our tensor core kernels take, and why not.

#include "kernels/gemm/cuda/half_product_support.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

template <class Change>
std::string refusal(const Change& change) {
  GemmProblem p = gpu_problem(256, 256, 256);
  change(p);
  return supports_half_product(p).reason();
}

TEST(HalfProductSupport, TakesBothTypesWithEitherOutputAndBias) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const DType out : {dtype, DType::kFloat32}) {
      for (const DType bias : {DType::kNone, dtype, DType::kFloat32}) {
        EXPECT_EQ(refusal([&](auto& x) {
                    x.a_dtype = x.b_dtype = dtype;
                    x.out_dtype = out;
                    x.bias_dtype = bias;
                  }),
                  "");
      }
    }
  }
}

TEST(HalfProductSupport, SaysWhyNot) {
  EXPECT_EQ(refusal([](auto& x) {
              x.a_dtype = x.b_dtype = x.out_dtype = DType::kFloat32;
            }),
            "the type is not BFloat16 or Half");
  const std::string operands =
      "a and b are not of one type, or out is neither of it nor float";
  EXPECT_EQ(refusal([](auto& x) { x.b_dtype = DType::kFloat16; }), operands);
  EXPECT_EQ(refusal([](auto& x) { x.out_dtype = DType::kFloat16; }), operands);
  EXPECT_EQ(refusal([](auto& x) { x.bias_dtype = DType::kFloat16; }),
            "the bias is neither of a's type nor float");
  EXPECT_EQ(refusal([](auto& x) { x.conjugate_a = true; }),
            "conjugated operands are not supported");
  EXPECT_EQ(refusal([](auto& x) { x.k = 0; }), "the product is empty");
  EXPECT_EQ(refusal([](auto& x) { x.batch = -1; }), "the product is empty");
  const std::string misaligned = "an operand is not aligned to its elements";
  EXPECT_EQ(refusal([](auto& x) { x.align_a = 1; }), misaligned);
  EXPECT_EQ(refusal([](auto& x) {
              x.out_dtype = DType::kFloat32;
              x.align_out = 2;
            }),
            misaligned);
}

TEST(HalfProductSupport, EverySideIsShorterThanTwoToThe30) {
  for (std::int64_t GemmProblem::* side :
       {&GemmProblem::m, &GemmProblem::n, &GemmProblem::k,
        &GemmProblem::batch}) {
    EXPECT_EQ(refusal([&](auto& x) { x.*side = kMostHalfLength - 1; }), "");
    EXPECT_EQ(refusal([&](auto& x) { x.*side = kMostHalfLength; }),
              "a side is longer than 2^30");
  }
}

}  // namespace
}  // namespace tunedops::cuda
