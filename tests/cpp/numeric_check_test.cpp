// The judge of finalists: lets right answers pass, finds one wrong element in
// many, and is no stricter with a challenger than Default is with itself.

#include "tuning/numeric_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "fake_kernel.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {
namespace {

// One matrix of ones whose elements cost what they are said to; remembers which
// of them were asked for.
class OnesDefinition final : public OpDefinition {
 public:
  OnesDefinition(std::int64_t inner, std::int64_t outer, std::int64_t cost)
      : inner_(inner), outer_(outer), cost_(cost) {}

  OpId id() const override { return OpId{201}; }
  std::string_view name() const override { return "ones"; }
  KeyText to_text(const ProblemKey&) const override { return {}; }
  std::optional<ProblemKey> from_text(const KeyText&, Device) const override {
    return {};
  }
  std::vector<Operand> operands(const ProblemKey&) const override {
    return {{.name = "ones",
             .dtype = DType::kFloat32,
             .role = Operand::Role::kInOut,
             .inner = inner_,
             .outer = outer_,
             .outer_stride = inner_}};
  }
  std::complex<double> reference(const ProblemKey&, std::span<const Elements>,
                                 double, double, Position p) const override {
    asked.push_back({p.batch, p.outer, p.inner});
    return 1;
  }
  Tolerance tolerance(const ProblemKey&) const override { return {}; }
  std::int64_t reference_cost(const ProblemKey&) const override {
    return cost_;
  }
  std::vector<ProblemKey> families(const ProblemKey&) const override {
    return {};
  }

  mutable std::vector<std::array<std::int64_t, 3>> asked;

 private:
  std::int64_t inner_;
  std::int64_t outer_;
  std::int64_t cost_;
};

class NumericCheckTest : public testing::Test {
 protected:
  void make(const FakeOp& op, const ProblemKey& problem,
            const NumericalCheck& setting = {}) {
    op_ = &op;
    problem_ = problem;
    buffers_.emplace(backend_, op.definition, problem, Stream{}, 0,
                     std::size_t{64} << 20, 0);
    ASSERT_TRUE(buffers_->status().is_ok());
    check_.emplace(op.definition, problem, *buffers_, setting);
  }

  using Change = std::function<void(float*)>;

  // Leaves the right answer in the output, with `change` made to its elements.
  void answer(const Change& change) {
    EXPECT_TRUE(buffers_->reset_output().is_ok());
    const Arguments arguments = buffers_->arguments(0);
    op_->compute(problem_, arguments);
    for (std::size_t i = 0; i < arguments.operands.size(); ++i) {
      if (op_->definition.operands(problem_)[i].is_output()) {
        change(static_cast<float*>(arguments.operands[i]));
        break;
      }
    }
  }

  Status judge(const Change& change = [](float*) {}) {
    answer(change);
    return check_->check();
  }

  void set_baseline(const Change& change = [](float*) {}) {
    answer(change);
    EXPECT_TRUE(check_->set_baseline().is_ok());
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
  EXPECT_TRUE(judge().is_ok());
  set_baseline();
  EXPECT_TRUE(judge().is_ok());
}

TEST_F(NumericCheckTest, NamesPositionAndBothValues) {
  make(gemm_op(), to_key(gemm_problem(3, 2, 1)));
  const Status wrong = judge([](float* out) { out[4] = 99; });
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
    EXPECT_FALSE(judge([&](float* out) { out[corner] += 0.01F; }).is_ok())
        << corner;
  }
}

TEST_F(NumericCheckTest, OneWrongElementAnywhereIsFoundWithABaseline) {
  make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
  set_baseline();
  for (const std::size_t at : {1U, 777U, 150001U, 299998U}) {
    const Status wrong = judge([&](float* out) { out[at] += 0.01F; });
    EXPECT_FALSE(wrong.is_ok()) << at;
  }
}

TEST_F(NumericCheckTest, NanAndInfinityAreWrong) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)));
  set_baseline();
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    EXPECT_FALSE(judge([&](float* out) { out[5] = bad; }).is_ok());
  }
  // What a kernel leaves unwritten is the poison, which is NaN too.
  ASSERT_TRUE(buffers_->reset_output().is_ok());
  EXPECT_FALSE(check_->check().is_ok());
}

TEST_F(NumericCheckTest, SmallErrorsPassAndLargerOnesDoNot) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)),
       {.enabled = true, .absolute = 1e-3, .relative = 1e-6});
  const auto off_by = [this](float error) {
    return judge([&](float* out) { out[0] += error; }).is_ok();
  };
  EXPECT_TRUE(off_by(5e-4F));
  EXPECT_FALSE(off_by(2e-3F));
}

TEST_F(NumericCheckTest, ToleranceMayBeRelative) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)),
       {.enabled = true, .absolute = 1e-6, .relative = 0.1});
  const auto scaled_by = [this](float factor) {
    return judge([&](float* out) {
             for (int i = 0; i < 16; ++i) {
               out[i] *= factor;
             }
           })
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
    return [error](float* out) { out[0] += error; };
  };
  EXPECT_FALSE(judge(off_by(4e-3F)).is_ok());
  set_baseline(off_by(3e-3F));
  EXPECT_TRUE(judge(off_by(4e-3F)).is_ok());
  EXPECT_FALSE(judge(off_by(6e-3F)).is_ok());
}

// Samples do not meet every error of Default. Where the two differ, the
// reference says who is wrong; else no right answer could win against a Default
// of low precision.
TEST_F(NumericCheckTest, IsNotBlamedForAnErrorOfDefaultThatNoSampleMet) {
  make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
  const auto off_at = [](std::size_t at, float error) {
    return [at, error](float* out) { out[at] += error; };
  };
  set_baseline([&](float* out) {
    off_at(777, 0.01F)(out);
    off_at(150001, 0.02F)(out);
  });
  const Status right = judge();
  EXPECT_TRUE(right.is_ok()) << right.reason();
  // What Default showed is allowed from then on, and half as much again.
  EXPECT_TRUE(judge(off_at(299990, 0.02F)).is_ok());
  EXPECT_FALSE(judge(off_at(299990, 0.2F)).is_ok());
  EXPECT_FALSE(judge(off_at(777, 0.2F)).is_ok());
}

TEST_F(NumericCheckTest, AnAbsurdElementOfDefaultIsNoMeasure) {
  make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
  set_baseline([](float* out) { out[777] = 1e6F; });
  const Status status = judge();
  EXPECT_TRUE(status.reason().ends_with("Default's is 1e+06"))
      << status.reason();
}

// Not even where a sample met it.
TEST_F(NumericCheckTest, AnAbsurdSampleOfDefaultDoesNotMakeZerosRight) {
  for (const float absurd : {15.0F, 100.0F, 1e6F}) {
    make(gemm_op(), to_key(gemm_problem(600, 500, 4)));
    set_baseline([absurd](float* out) { out[0] = absurd; });
    EXPECT_FALSE(judge([](float* out) {
                   std::fill(out, out + 600 * 500, 0.0F);
                 }).is_ok());
  }
}

// If Default itself gives NaN, it cannot be what others are measured by.
TEST_F(NumericCheckTest, ABrokenDefaultDoesNotWidenTheLimit) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)));
  set_baseline([](float* out) { out[0] = NAN; });
  EXPECT_FALSE(judge([](float* out) { out[1] += 0.1F; }).is_ok());
}

// Nor if it computes from other numbers than the reference does: with that as
// a measure everything would be right.
TEST_F(NumericCheckTest, AnUnrelatedDefaultDoesNotWidenTheLimit) {
  make(gemm_op(), to_key(gemm_problem(4, 4, 4)));
  set_baseline([](float* out) { std::reverse(out, out + 16); });
  EXPECT_FALSE(judge([](float* out) { std::reverse(out, out + 16); }).is_ok());
  EXPECT_FALSE(judge([](float* out) { out[1] += 0.1F; }).is_ok());
}

TEST_F(NumericCheckTest, LooksOnlyAtElementsOfTheOutput) {
  GemmProblem p = gemm_problem(3, 2, 4);
  p.ldc = 5;
  make(gemm_op(), to_key(p));
  set_baseline();
  // The gaps are NaN, and are nobody's business here.
  EXPECT_TRUE(judge().is_ok());
  EXPECT_FALSE(judge([](float* out) { out[7] += 1; }).is_ok());
}

TEST_F(NumericCheckTest, ChecksScalarsBiasAndActivation) {
  GemmProblem p = gemm_problem(5, 6, 7);
  p.alpha = p.beta = ScalarClass::kAny;
  p.bias_dtype = DType::kFloat32;
  p.activation = Activation::kRelu;
  make(gemm_op(), to_key(p));
  EXPECT_TRUE(judge().is_ok());
  // A kernel that forgets beta: the output before the run is not in it.
  ASSERT_TRUE(buffers_->reset_output().is_ok());
  Arguments forgetful = buffers_->arguments(0);
  forgetful.beta = 0;
  compute_gemm(to_key(p), forgetful);
  EXPECT_FALSE(check_->check().is_ok());
}

// Sampling such elements as often as others would take longer than tuning.
TEST_F(NumericCheckTest, CostlyElementsAreSampledAtTheCornersOnly) {
  const OnesDefinition op(300, 200, 500000);
  TuningBuffers buffers(backend_, op, {}, {}, 0, std::size_t{1} << 20, 0);
  NumericCheck check(op, {}, buffers, {});
  EXPECT_EQ(op.asked.size(), 0U) << "not before they are needed";
  EXPECT_FALSE(check.check().is_ok());
  EXPECT_FALSE(check.check().is_ok());
  const std::vector<std::array<std::int64_t, 3>> corners{
      {0, 0, 0}, {0, 0, 299}, {0, 199, 0}, {0, 199, 299}};
  EXPECT_EQ(op.asked, corners);
}

TEST_F(NumericCheckTest, NoElementIsSampledTwice) {
  for (const auto& [inner, outer] : std::vector<std::pair<int, int>>{
           {1, 1}, {3, 2}, {1, 5000}, {31, 33}, {600, 5}}) {
    const OnesDefinition op(inner, outer, 3);
    TuningBuffers buffers(backend_, op, {}, {}, 0, std::size_t{1} << 20, 0);
    NumericCheck check(op, {}, buffers, {});
    EXPECT_FALSE(check.check().is_ok());
    const std::set<std::array<std::int64_t, 3>> distinct(op.asked.begin(),
                                                         op.asked.end());
    EXPECT_EQ(distinct.size(), op.asked.size());
    EXPECT_GE(distinct.size(), std::min<std::size_t>(inner * outer, 600));
    EXPECT_LE(distinct.size(), 1024U);
  }
}

// An op whose answers are exact has a tolerance of nothing at all.
TEST_F(NumericCheckTest, AnExactOpIsCheckedExactly) {
  make(scale_op(), scale_problem(1000));
  set_baseline();
  const Status right = judge();
  EXPECT_TRUE(right.is_ok()) << right.reason();
  EXPECT_FALSE(
      judge([](float* y) { y[500] = std::nextafter(y[500], 9.0F); }).is_ok());
}

}  // namespace
}  // namespace tunedops
