// What the core is told about matrix products: where the operands lie, what the
// right answer is and how far off a right answer may be.

#include "kernels/gemm/gemm_definition.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "fake_kernel.h"
#include "tuning/numeric_check.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {
namespace {

const GemmDefinition gemm;

Elements in_memory(const float* data) {
  return Elements::in_memory(DType::kFloat32, data);
}

TEST(GemmDefinition, OperandsFollowTheLayout) {
  GemmProblem p = gemm_problem(3, 5, 7);
  p.transpose_a = true;
  p.lda = 10;
  p.ldc = 4;
  p.align_b = 2;
  p.bias_dtype = DType::kBFloat16;
  const std::vector<Operand> operands = gemm.operands(to_key(p));
  ASSERT_EQ(operands.size(), 4U);
  const Operand& a = operands[kGemmA];
  EXPECT_EQ(a.inner, 7);
  EXPECT_EQ(a.outer, 3);
  EXPECT_EQ(a.outer_stride, 10);
  EXPECT_EQ(a.extent(), 2 * 10 + 7);
  EXPECT_EQ(a.bytes(), 27U * 4);
  EXPECT_FALSE(a.is_output());
  const Operand& b = operands[kGemmB];
  EXPECT_EQ(b.inner, 7);
  EXPECT_EQ(b.outer, 5);
  EXPECT_EQ(b.alignment, 2U);
  const Operand& out = operands[kGemmOut];
  EXPECT_EQ(out.inner, 3);
  EXPECT_EQ(out.outer, 5);
  EXPECT_EQ(out.offset(0, 4, 2), 4 * 4 + 2);
  EXPECT_EQ(out.role, Operand::Role::kOutput);
  EXPECT_EQ(operands[kGemmBias].dtype, DType::kBFloat16);
  EXPECT_EQ(operands[kGemmBias].extent(), 3);
}

TEST(GemmDefinition, ABroadcastOperandIsOneMatrix) {
  GemmProblem p = gemm_problem(3, 5, 7);
  p.batched = true;
  p.batch = 4;
  p.stride_b = 35;
  p.stride_c = 20;
  const std::vector<Operand> operands = gemm.operands(to_key(p));
  EXPECT_EQ(operands[kGemmA].batch, 1);
  EXPECT_EQ(operands[kGemmA].extent(), 21);
  EXPECT_EQ(operands[kGemmB].batch, 4);
  EXPECT_EQ(operands[kGemmB].extent(), 3 * 35 + 35);
  EXPECT_EQ(operands[kGemmOut].extent(), 3 * 20 + 15);
}

TEST(GemmDefinition, AnOutputThatIsAddedToIsReadToo) {
  GemmProblem p = gemm_problem(3, 5, 7);
  p.beta = ScalarClass::kOne;
  EXPECT_EQ(gemm.operands(to_key(p))[kGemmOut].role, Operand::Role::kInOut);
  EXPECT_EQ(gemm.beta_for_tuning(to_key(p)), 1.0);
  p.beta = ScalarClass::kZero;
  EXPECT_EQ(gemm.beta_for_tuning(to_key(p)), 0.0);
}

// Scalars that no kernel could take for 0 or 1 (a kernel that was wrong only
// for others once won unnoticed).
TEST(GemmDefinition, OtherScalarsAreTunedWithOtherValues) {
  GemmProblem p = gemm_problem(3, 5, 7);
  p.alpha = p.beta = ScalarClass::kAny;
  const std::set<double> simple{0.0, 1.0, -1.0};
  EXPECT_FALSE(simple.contains(gemm.alpha_for_tuning(to_key(p))));
  EXPECT_FALSE(simple.contains(gemm.beta_for_tuning(to_key(p))));
}

TEST(GemmDefinition, ReferenceOfComplexNumbersConjugates) {
  const std::complex<double> a[] = {{1, 2}};
  const std::complex<double> b[] = {{3, -1}};
  const Elements operands[] = {Elements::in_memory(DType::kComplex128, a),
                               Elements::in_memory(DType::kComplex128, b),
                               {},
                               {}};
  GemmProblem p = gemm_problem(1, 1, 1);
  p.a_dtype = p.b_dtype = p.out_dtype = DType::kComplex128;
  EXPECT_EQ(gemm.reference(to_key(p), operands, 2, 0, {}), 2.0 * a[0] * b[0]);
  p.conjugate_a = true;
  EXPECT_EQ(gemm.reference(to_key(p), operands, 1, 0, {}),
            std::conj(a[0]) * b[0]);
  p.conjugate_b = true;
  EXPECT_EQ(gemm.reference(to_key(p), operands, 1, 0, {}),
            std::conj(a[0]) * std::conj(b[0]));
}

TEST(GemmDefinition, ReferenceAppliesBiasBeforeTheActivation) {
  const float a[] = {2};
  const float b[] = {3};
  const float out[] = {10};
  const float bias[] = {-7};
  const Elements operands[] = {in_memory(a), in_memory(b), in_memory(out),
                               in_memory(bias)};
  GemmProblem p = gemm_problem(1, 1, 1);
  const auto value = [&](Activation activation) {
    p.activation = activation;
    return gemm.reference(to_key(p), operands, 0.5, 0.25, {}).real();
  };
  EXPECT_EQ(value(Activation::kNone), 3);  // beta 0: the output is not read
  p.bias_dtype = DType::kFloat32;
  EXPECT_EQ(value(Activation::kNone), -4);
  EXPECT_EQ(value(Activation::kRelu), 0);
  p.beta = ScalarClass::kAny;
  EXPECT_EQ(value(Activation::kNone), -1.5);
  EXPECT_NEAR(value(Activation::kGelu), -0.1002108, 1e-6);
  EXPECT_NEAR(value(Activation::kGeluTanh), -0.1004284, 1e-6);
}

TEST(GemmDefinition, TheProductWithoutTermsIsWhatIsAdded) {
  const float out[] = {10};
  const float bias[] = {1};
  const Elements operands[] = {{}, {}, in_memory(out), in_memory(bias)};
  GemmProblem p = gemm_problem(1, 1, 0);
  p.beta = ScalarClass::kOne;
  p.bias_dtype = DType::kFloat32;
  EXPECT_EQ(gemm.reference(to_key(p), operands, 1, 1, {}).real(), 11);
}

// Two independent implementations agree on all layouts, strides and epilogues.
TEST(GemmDefinition, ReferenceAgreesWithAPlainLoop) {
  FakeDevice device;
  const FakeBackend backend(device);
  for (unsigned bits = 0; bits < 64; ++bits) {
    GemmProblem p = gemm_problem(5, 4, 6);
    p.transpose_a = (bits & 1) != 0;
    p.transpose_b = (bits & 2) != 0;
    p.batched = (bits & 4) != 0;
    p.beta = (bits & 8) != 0 ? ScalarClass::kAny : ScalarClass::kZero;
    p.bias_dtype = (bits & 16) != 0 ? DType::kFloat32 : DType::kNone;
    p.activation = (bits & 32) != 0 ? Activation::kRelu : Activation::kNone;
    p.lda = 7;
    p.ldb = 8;
    p.ldc = 9;
    if (p.batched) {
      p.batch = 3;
      p.stride_a = 50;
      p.stride_c = 40;  // b is the same for all
    }
    const ProblemKey key = to_key(p);
    TuningBuffers buffers(backend, gemm, key, {}, 0, 1 << 20, 0);
    NumericCheck check(gemm, key, buffers, {});
    compute_gemm(key, buffers.arguments(0));
    ASSERT_TRUE(buffers.check_untouched().is_ok()) << bits;
    const Status checked = check.check();
    EXPECT_TRUE(checked.is_ok()) << bits << ": " << checked.reason();
  }
}

TEST(GemmDefinition, ToleranceGrowsWithRoundingAndLength) {
  const auto absolute = [](DType dtype, std::int64_t k, int precision = 0) {
    GemmProblem p = gemm_problem(8, 8, k);
    p.a_dtype = p.b_dtype = p.out_dtype = dtype;
    p.header.precision = static_cast<std::uint16_t>(precision);
    return gemm.tolerance(to_key(p)).absolute;
  };
  EXPECT_LT(absolute(DType::kFloat64, 64), absolute(DType::kFloat32, 64));
  EXPECT_LT(absolute(DType::kFloat32, 64), absolute(DType::kFloat32, 6400));
  EXPECT_LT(absolute(DType::kFloat32, 64),
            absolute(DType::kFloat32, 64, kAllowTf32));
  EXPECT_LT(absolute(DType::kFloat32, 64, kAllowTf32),
            absolute(DType::kFloat32, 64, kAllowBf16));
  EXPECT_LT(absolute(DType::kFloat16, 64),
            absolute(DType::kFloat16, 64, kFp16Accumulation));
  // TF32 says nothing about other types.
  EXPECT_EQ(absolute(DType::kFloat64, 64),
            absolute(DType::kFloat64, 64, kAllowTf32));
}

// Sums are of the operands, and rounded to the output's type: what rounds them
// to the operands' is wrong.
TEST(GemmDefinition, AWiderOutputMustBeExacter) {
  GemmProblem p = gemm_problem(6, 5, 24);
  p.a_dtype = p.b_dtype = DType::kBFloat16;
  p.bias_dtype = DType::kBFloat16;
  p.ldc = 9;
  const ProblemKey key = to_key(p);
  EXPECT_EQ(gemm.operands(key)[kGemmA].bytes(), 2U * 6 * 24);
  EXPECT_EQ(gemm.operands(key)[kGemmOut].bytes(), 4U * (4 * 9 + 6));
  EXPECT_EQ(gemm.tolerance(key).relative, 2 * epsilon_of(DType::kFloat32));

  FakeDevice device;
  const FakeBackend backend(device);
  TuningBuffers buffers(backend, gemm, key, {}, 0, 1 << 20, 0);
  NumericCheck check(gemm, key, buffers, {});
  const Arguments arguments = buffers.arguments(0);
  for (const DType rounded_to : {DType::kFloat32, DType::kBFloat16}) {
    for (std::int64_t column = 0; column < p.n; ++column) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        const std::complex<double> sum = gemm.reference(
            key, buffers.elements(), 1, 0, {.outer = column, .inner = row});
        std::array<std::byte, 4> rounded{};
        store_element(rounded_to, rounded.data(), 0, sum.real());
        store_element(DType::kFloat32, arguments.operands[kGemmOut],
                      static_cast<std::size_t>(column * p.ldc + row),
                      load_element(rounded_to, rounded.data(), 0).real());
      }
    }
    ASSERT_TRUE(buffers.check_untouched().is_ok());
    EXPECT_EQ(check.check().is_ok(), rounded_to == DType::kFloat32);
  }
}

TEST(GemmDefinition, FamiliesDifferInOneLengthOnly) {
  const auto families = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return gemm.families(to_key(gemm_problem(m, n, k)));
  };
  const auto shared = [](const std::vector<ProblemKey>& left,
                         const std::vector<ProblemKey>& right) {
    int count = 0;
    for (const ProblemKey& key : left) {
      count += static_cast<int>(std::count(right.begin(), right.end(), key));
    }
    return count;
  };
  EXPECT_EQ(shared(families(4, 5, 6), families(4, 5, 6)), 4);
  EXPECT_EQ(shared(families(4, 5, 6), families(7, 5, 6)), 1);
  EXPECT_EQ(shared(families(4, 5, 6), families(4, 7, 6)), 1);
  EXPECT_EQ(shared(families(4, 5, 6), families(4, 5, 7)), 1);
  EXPECT_EQ(shared(families(4, 5, 6), families(7, 8, 6)), 0);
  // But for one length that is there twice, or thrice.
  EXPECT_EQ(shared(families(4, 4, 6), families(7, 7, 6)), 1);
  EXPECT_EQ(shared(families(4, 6, 4), families(7, 6, 7)), 1);
  EXPECT_EQ(shared(families(6, 4, 4), families(6, 7, 7)), 1);
  EXPECT_EQ(shared(families(4, 4, 4), families(7, 7, 7)), 1);
  EXPECT_EQ(shared(families(4, 4, 6), families(7, 8, 6)), 0);
  EXPECT_EQ(shared(families(4, 4, 6), families(7, 6, 7)), 0);
}

TEST(GemmDefinition, ActivationsHaveNames) {
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kGelu,
        Activation::kGeluTanh}) {
    EXPECT_EQ(activation_from_text(to_text(activation)), activation);
  }
  EXPECT_EQ(activation_from_text("silu"), std::nullopt);
}

TEST(GemmDefinition, PackedStridesAreOneMatrixApart) {
  GemmProblem p = gemm_problem(3, 5, 7);
  p.transpose_a = true;
  p.lda = 10;
  EXPECT_EQ(packed_strides(p).a, 30);
  EXPECT_EQ(packed_strides(p).b, 35);
  EXPECT_EQ(packed_strides(p).c, 15);
}

}  // namespace
}  // namespace tunedops
