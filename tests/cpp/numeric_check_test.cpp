// The judge of finalists: lets right answers pass, finds one wrong element in
// many, and is no stricter with a challenger than Default is with itself.

#include "tuning/numeric_check.h"

#include <cmath>
#include <optional>

#include "fake_kernel.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {
namespace {

class NumericCheckTest : public testing::Test {
 protected:
  void make(const FakeOp& op, const ProblemKey& problem,
            const NumericalCheck& setting = {}) {
    op_ = &op;
    problem_ = problem;
    buffers_.emplace(backend_, op.definition, problem, Stream{}, 0,
                     std::size_t{64} << 20, 0);
    ASSERT_TRUE(buffers_->status().is_ok());
    check_.emplace(op.definition, problem, buffers_->host_operands(),
                   buffers_->output(), setting);
  }

  // The right answer as bytes, with `change` made to its elements.
  template <class Change>
  std::vector<std::byte> answer(Change change) {
    EXPECT_TRUE(buffers_->reset_output().is_ok());
    const Arguments arguments = buffers_->arguments(0);
    op_->compute(problem_, arguments);
    std::vector<std::byte> output;
    EXPECT_TRUE(buffers_->fetch_output(output).is_ok());
    change(reinterpret_cast<float*>(output.data()));
    return output;
  }

  std::vector<std::byte> answer() {
    return answer([](float*) {});
  }

  FakeDevice device_;
  FakeBackend backend_{device_};
  const FakeOp* op_ = nullptr;
  ProblemKey problem_;
  std::optional<TuningBuffers> buffers_;
  std::optional<NumericCheck> check_;
};

TEST_F(NumericCheckTest, ARightAnswerPasses) {
  make(gemm_op(), to_key(gemm_problem(40, 30, 500)));
  EXPECT_TRUE(check_->check(answer()).is_ok());
  check_->set_baseline(answer());
  EXPECT_TRUE(check_->check(answer()).is_ok());
}

TEST_F(NumericCheckTest, NamesPositionAndBothValues) {
  make(gemm_op(), to_key(gemm_problem(3, 2, 1)));
  const Status wrong = check_->check(answer([](float* out) { out[4] = 99; }));
  EXPECT_EQ(wrong.code(), Status::Code::kUnsupported);
  EXPECT_TRUE(wrong.reason().starts_with(
      "wrong result at [0, 1, 1]: got 99, the reference is "))
      << wrong.reason();
}

// Partial tiles end in corners, of which no random sample need be one.
TEST_F(NumericCheckTest, OneWrongCornerIsFoundWithoutABaseline) {
  make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
  for (const std::size_t corner :
       {std::size_t{0}, std::size_t{599}, std::size_t{499 * 600},
        std::size_t{500 * 600 - 1}}) {
    EXPECT_FALSE(
        check_->check(answer([&](float* out) { out[corner] += 0.01F; }))
            .is_ok())
        << corner;
  }
}

TEST_F(NumericCheckTest, OneWrongElementAnywhereIsFoundWithABaseline) {
  make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
  check_->set_baseline(answer());
  for (const std::size_t at : {1U, 777U, 150001U, 299998U}) {
    const Status wrong =
        check_->check(answer([&](float* out) { out[at] += 0.01F; }));
    EXPECT_FALSE(wrong.is_ok()) << at;
  }
}

TEST_F(NumericCheckTest, NanAndInfinityAreWrong) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)));
  check_->set_baseline(answer());
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    EXPECT_FALSE(
        check_->check(answer([&](float* out) { out[5] = bad; })).is_ok());
  }
  // What a kernel leaves unwritten is the poison, which is NaN too.
  ASSERT_TRUE(buffers_->reset_output().is_ok());
  std::vector<std::byte> unwritten;
  ASSERT_TRUE(buffers_->fetch_output(unwritten).is_ok());
  EXPECT_FALSE(check_->check(unwritten).is_ok());
}

TEST_F(NumericCheckTest, SmallErrorsPassAndLargerOnesDoNot) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)),
       {.enabled = true, .absolute = 1e-3, .relative = 1e-6});
  const auto off_by = [this](float error) {
    return check_->check(answer([&](float* out) { out[0] += error; })).is_ok();
  };
  EXPECT_TRUE(off_by(5e-4F));
  EXPECT_FALSE(off_by(2e-3F));
}

TEST_F(NumericCheckTest, ToleranceMayBeRelative) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)),
       {.enabled = true, .absolute = 1e-6, .relative = 0.1});
  const auto scaled_by = [this](float factor) {
    return check_
        ->check(answer([&](float* out) {
          for (int i = 0; i < 16; ++i) {
            out[i] *= factor;
          }
        }))
        .is_ok();
  };
  EXPECT_TRUE(scaled_by(1.05F));
  EXPECT_FALSE(scaled_by(1.2F));
}

// A Default of low precision errs by 3 tolerances; a challenger may then err by
// half as much again, but not by twice as much.
TEST_F(NumericCheckTest, MayErrOneAndAHalfTimesAsMuchAsDefault) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)),
       {.enabled = true, .absolute = 1e-3, .relative = 1e-9});
  const auto off_by = [this](float error) {
    return answer([&](float* out) { out[0] += error; });
  };
  EXPECT_FALSE(check_->check(off_by(4e-3F)).is_ok());
  check_->set_baseline(off_by(3e-3F));
  EXPECT_TRUE(check_->check(off_by(4e-3F)).is_ok());
  EXPECT_FALSE(check_->check(off_by(6e-3F)).is_ok());
}

// If Default itself gives NaN, it cannot be what others are measured by.
TEST_F(NumericCheckTest, ABrokenDefaultDoesNotWidenTheLimit) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)));
  check_->set_baseline(answer([](float* out) { out[0] = NAN; }));
  EXPECT_FALSE(
      check_->check(answer([](float* out) { out[1] += 0.1F; })).is_ok());
}

TEST_F(NumericCheckTest, LooksOnlyAtElementsOfTheOutput) {
  GemmProblem p = gemm_problem(3, 2, 4);
  p.ldc = 5;
  make(gemm_op(), to_key(p));
  check_->set_baseline(answer());
  // The gaps are NaN, and are nobody's business here.
  EXPECT_TRUE(check_->check(answer()).is_ok());
  EXPECT_FALSE(check_->check(answer([](float* out) { out[7] += 1; })).is_ok());
}

TEST_F(NumericCheckTest, ChecksScalarsBiasAndActivation) {
  GemmProblem p = gemm_problem(5, 6, 7);
  p.alpha = p.beta = ScalarClass::kAny;
  p.bias_dtype = DType::kFloat32;
  p.activation = Activation::kRelu;
  make(gemm_op(), to_key(p));
  EXPECT_TRUE(check_->check(answer()).is_ok());
  // A kernel that forgets beta: the output before the run is not in it.
  ASSERT_TRUE(buffers_->reset_output().is_ok());
  Arguments forgetful = buffers_->arguments(0);
  forgetful.beta = 0;
  compute_gemm(to_key(p), forgetful);
  std::vector<std::byte> output;
  ASSERT_TRUE(buffers_->fetch_output(output).is_ok());
  EXPECT_FALSE(check_->check(output).is_ok());
}

// An op whose answers are exact has a tolerance of nothing at all.
TEST_F(NumericCheckTest, AnExactOpIsCheckedExactly) {
  make(scale_op(), scale_problem(1000));
  check_->set_baseline(answer());
  const Status right = check_->check(answer());
  EXPECT_TRUE(right.is_ok()) << right.reason();
  EXPECT_FALSE(check_
                   ->check(answer(
                       [](float* y) { y[500] = std::nextafter(y[500], 9.0F); }))
                   .is_ok());
}

}  // namespace
}  // namespace tunedops
