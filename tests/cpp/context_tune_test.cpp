// Tuning on request: whatever the switches say about misses, and with an error
// instead of a guess where it cannot be done.

#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

using ContextTuneTest = ContextTest;

TEST_F(ContextTuneTest, MeasuresAnewWhatIsStored) {
  write_csv("# why\n" + row(8, "Default"));
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm()), "Default");
  const TuneOutcome outcome = context().tune(gemm(), {}, true);
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Gemm_Fast");
  EXPECT_EQ(outcome.measurements.size(), 2U);
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "used from now on";
  const KeyText key = context().key_text(gemm());
  EXPECT_EQ(read_text(csv()),
            std::string(kValidators) + "# why\n" + key.op + ',' + key.params +
                ",Gemm_Fast,0.5,1,fake,100,0,0.01,2030-01-31\n");
}

TEST_F(ContextTuneTest, WorksWithTuningOffAndTheSwitchOff) {
  restart({{"ENABLED", "0"},
           {"TUNING", "0"},
           {"TOTAL_BUDGET_S", "0"},
           {"MAX_VARIANTS", "0"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(context().tune(gemm(), {}, true).solution, "Gemm_Fast");
}

TEST_F(ContextTuneTest, WithoutPersistenceNothingIsWritten) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().tune(gemm(), {}, false);
  EXPECT_EQ(context().stored(gemm())->solution, "Gemm_Fast");
  EXPECT_FALSE(exists(csv()));
  context().on_exit();
  EXPECT_FALSE(exists(csv())) << "that was no win to keep";
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Gemm_Fast")});
}

TEST_F(ContextTuneTest, ItDoesNotCountAgainstThePaceOfProducts) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("MAX_VARIANTS", "1");
  context().tune(gemm(1), {}, false);
  context().tune(gemm(2), {}, false);
  EXPECT_EQ(choice(gemm(3)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(4)), "Default");
}

TEST_F(ContextTuneTest, SaysWhyItMayNot) {
  device_.may_tune = Status::unsupported("a graph is being captured");
  try {
    context().tune(gemm(), {}, true);
    FAIL() << "it tuned";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "tune: a graph is being captured");
  }
  EXPECT_EQ(standard().runs(), 0);
}

TEST_F(ContextTuneTest, ItsSurroundingsAreThereWhileItMeasuresAndNoLonger) {
  std::weak_ptr<void> there;
  int runs_in = 0;
  int runs_out = 0;
  add({.name = "Gemm_Fast", .ms_of = [&](const Config&) {
         ++(there.expired() ? runs_out : runs_in);
         return 0.5;
       }});
  context().tune(gemm(), {}, false, [&] {
    auto made = std::make_shared<int>();
    there = made;
    return made;
  });
  EXPECT_GT(runs_in, 0);
  EXPECT_EQ(runs_out, 0);
  EXPECT_TRUE(there.expired());
}

TEST_F(ContextTuneTest, AFailureIsAnOutcomeAndKeepsTheOldResult) {
  write_csv(row(8, "Gemm_Fast"));
  add({.name = "Gemm_Fast", .ms = 0.5});
  device_.out_of_memory = true;
  const TuneOutcome outcome = context().tune(gemm(), {}, true);
  EXPECT_EQ(outcome.status.reason(), "not enough free memory to tune on");
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
  EXPECT_EQ(read_text(csv()), kValidators + row(8, "Gemm_Fast"));
}

TEST_F(ContextTuneTest, SaysWhyKernelsRefuse) {
  add({.name = "Gemm_Fast"});
  add({.name = "Gemm_Unable",
       .fault = Fault::kUnsupported,
       .reason = "needs a GPU"});
  EXPECT_EQ(
      context().refusals(gemm()),
      (std::vector<std::pair<std::string, std::string>>{
          {"Default", ""}, {"Gemm_Fast", ""}, {"Gemm_Unable", "needs a GPU"}}));
}

TEST_F(ContextTuneTest, NamesWhatMayCompeteAndRunsNothing) {
  add({.name = "Gemm_Fast"});
  add({.name = "Gemm_Unable", .fault = Fault::kUnsupported});
  add({.name = "Gemm_Other"});
  EXPECT_EQ(context().competitors(gemm()),
            (std::vector<std::string>{"Default", "Gemm_Fast", "Gemm_Other"}));
  context().set_setting("KERNELS", "Gemm_Other");
  EXPECT_EQ(context().competitors(gemm()),
            (std::vector<std::string>{"Default", "Gemm_Other"}));
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(context().results({DeviceType::kCpu, 0}).empty());
}

TEST_F(ContextTuneTest, WithoutAYardstickNothingIsDecided) {
  GemmProblem problem = gemm_problem(4, 4, 4);
  problem.header.device_type = DeviceType::kCuda;
  problem.header.threads = 0;
  context().register_backend(DeviceType::kCuda,
                             std::make_unique<FakeBackend>(device_));
  device_.tags[{DeviceType::kCuda, 0}] = "0";
  context().kernels().register_kernel<FakeKernel>(
      kGemmOp, device_, gemm_op(), Behaviour{.name = "Gemm_Alone"},
      DeviceType::kCuda);
  EXPECT_TRUE(context().competitors(to_key(problem)).empty());
  const TuneOutcome outcome = context().tune(to_key(problem), {}, true);
  EXPECT_EQ(outcome.status.reason(), "Default does not support this problem");
  EXPECT_TRUE(context().results({DeviceType::kCuda, 0}).empty());
}

TEST_F(ContextTuneTest, AProblemOfAnUnknownOpIsABug) {
  ScaleProblem problem;
  problem.header.op = OpId{77};
  problem.length = 1;
  EXPECT_THROW(choice(to_key(problem)), std::logic_error);
  EXPECT_THROW(context().register_op(std::make_unique<ScaleDefinition>()),
               std::invalid_argument)
      << "an op is registered once";
}

// --- Tuning that keeps nothing -----------------------------------------------

TEST_F(ContextTuneTest, MeasuringKeepsNothing) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  const TuneOutcome outcome = context().measure(gemm(), {}, {});
  EXPECT_EQ(outcome.solution, "Gemm_Fast");
  EXPECT_TRUE(context().results({}).empty());
  EXPECT_FALSE(context().stored(gemm()).has_value());
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{});
}

TEST_F(ContextTuneTest, MeasuringMayLeaveOutKernels) {
  restart({{"KERNELS", "Gemm_Fast"}});
  add({.name = "Gemm_Fast", .ms = 0.25});
  add({.name = "Gemm_Good", .ms = 0.5});
  EXPECT_EQ(context().measure(gemm(), {}, {}).solution, "Gemm_Fast");
  EXPECT_EQ(context().measure(gemm(), {}, {.kernels = {"Gemm_Good"}}).solution,
            "Gemm_Good")
      << "whatever the setting says";
  EXPECT_EQ(context().measure(gemm(), {}, {.kernels = {"Default"}}).solution,
            "Default");
}

TEST_F(ContextTuneTest, MeasuringHasABudgetOfItsOwn) {
  restart({{"MAX_TUNING_BUDGET_MS", "50"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  const double usual = context().measure(gemm(), {}, {}).elapsed_ms;
  const double short_one =
      context().measure(gemm(), {}, {.budget_ms = 10}).elapsed_ms;
  EXPECT_LT(short_one, usual);
}

}  // namespace
}  // namespace tunedops
