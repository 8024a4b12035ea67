// The switches as a program sees them: which one decides, what is said about
// it, and what stays untouched.

#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

using ContextSwitchesTest = ContextTest;

TEST_F(ContextSwitchesTest, EnabledDecidesWhetherProductsAsk) {
  EXPECT_TRUE(context().enabled());
  EXPECT_TRUE(context().is_active());
  restart({{"ENABLED", "0"}});
  EXPECT_FALSE(context().is_active());
  context().set_setting("ENABLED", "1");
  EXPECT_FALSE(context().is_active()) << "the environment wins";
  EXPECT_EQ(warnings(), std::vector<std::string>{
                            "tunedops: TUNEDOPS_ENABLED=0 is set in the "
                            "environment and wins over a call that sets 1"});
}

TEST_F(ContextSwitchesTest, ARefusedCallIsSaidOnce) {
  restart({{"TUNING", "0"}});
  for (int i = 0; i < 3; ++i) {
    context().set_setting("TUNING", "1");
  }
  EXPECT_EQ(warnings().size(), 1U);
  EXPECT_EQ(context().setting("TUNING"), "0");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(standard().runs(), 0);
}

TEST_F(ContextSwitchesTest, WhatTheEnvironmentCannotMeanIsSaid) {
  restart({{"MAX_VARIANTS", "many"}});
  // Not while the context is made, which nobody may interrupt, but once it is
  // used.
  EXPECT_EQ(context().setting("MAX_VARIANTS"), "32");
  choice(gemm());
  EXPECT_EQ(warnings(),
            std::vector<std::string>{
                "tunedops: TUNEDOPS_MAX_VARIANTS is 'many', expected an "
                "integer of at least 0; it stays at 32"});
  EXPECT_THROW(context().set_setting("MAX_VARIANTS", "many"),
               std::invalid_argument);
  EXPECT_THROW(context().set_setting("NOTHING", "1"), std::invalid_argument);
  EXPECT_EQ(context().describe_settings().size(),
            Settings([](const char*) { return nullptr; }).describe().size());
}

TEST_F(ContextSwitchesTest, ReadOnlyTunesNothingAndWritesNothing) {
  write_csv(row(9, "Default") + row(8, "Gemm_Fast"));
  restart({{"READ_ONLY", "1"}, {"RECORD_UNTUNED", "1"}});
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.5});
  const FileStamp before = stamp_of(csv());
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(7)), "Default");
  EXPECT_EQ(fast.runs() + standard().runs(), 0);
  try {
    context().tune(gemm(7), {}, true);
    FAIL() << "it tuned";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "tune: TUNEDOPS_READ_ONLY is on");
  }
  context().on_exit();
  EXPECT_FALSE(context().write_file());
  EXPECT_FALSE(context().write_file({}, path("copy.csv")));
  EXPECT_EQ(stamp_of(csv()), before);
  EXPECT_FALSE(exists(csv() + ".lock"));
  EXPECT_FALSE(exists(path("copy.csv")));
  EXPECT_FALSE(exists(path("untuned_cpu.csv")));
  EXPECT_EQ(warnings(),
            std::vector<std::string>{"tunedops: results are not saved: "
                                     "TUNEDOPS_READ_ONLY is on"});
}

TEST_F(ContextSwitchesTest, LimitsReachTheTuner) {
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("MAX_TUNING_ITERATIONS", "0");
  context().set_setting("MAX_TUNING_DURATION_MS", "0");
  context().set_setting("MAX_WARMUP_ITERATIONS", "0");
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
  EXPECT_EQ(fast.runs(), 4);
}

TEST_F(ContextSwitchesTest, TheNumericalCheckCanBeTurnedOff) {
  add({.name = "Gemm_Wrong", .ms = 0.5, .fault = Fault::kWrong});
  EXPECT_EQ(choice(gemm(8)), "Default");
  context().set_setting("NUMERICAL_CHECK", "0");
  EXPECT_EQ(choice(gemm(9)), "Gemm_Wrong");
}

TEST_F(ContextSwitchesTest, AnUnknownNameInKernelsIsSaid) {
  context().set_setting("KERNELS", "Gemm_Fats");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(warnings(), std::vector<std::string>{
                            "tunedops: TUNEDOPS_KERNELS names 'Gemm_Fats', "
                            "which no kernel here is called"});
}

TEST_F(ContextSwitchesTest, VerbosityShowsResultsThenCandidates) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  add({.name = "Gemm_Broken", .fault = Fault::kFails});
  context().set_setting("VERBOSE_FILENAME", path("log"));
  choice(gemm(7));
  EXPECT_FALSE(exists(path("log")));
  context().set_setting("VERBOSE", "1");
  choice(gemm(8));
  const KeyText key = context().key_text(gemm(8));
  const std::string result =
      key.op + ',' + key.params +
      " -> Gemm_Fast 0.5 ms (Default 1 ms), spread 0 %, 100 rounds, tuned in ";
  const std::string line = read_text(path("log"));
  ASSERT_TRUE(line.starts_with(result)) << line;
  EXPECT_TRUE(line.ends_with(" ms\n")) << line;
  EXPECT_GE(std::stod(line.substr(result.size())), 100) << line;
  context().set_setting("VERBOSE", "2");
  choice(gemm(9));
  const std::string log = read_text(path("log"));
  const std::string params = context().key_text(gemm(9)).params;
  EXPECT_NE(log.find(params + ": Gemm_Fast 0.5 ms\n"), std::string::npos);
  EXPECT_NE(log.find(params + ": Gemm_Broken 0 ms (out of order)\n"),
            std::string::npos)
      << log;
}

TEST_F(ContextSwitchesTest, SaysThatNothingWasChosenAndHowLongItTook) {
  add({.name = "Gemm_Deadly", .fault = Fault::kSticky});
  context().set_setting("VERBOSE_FILENAME", path("log"));
  context().set_setting("VERBOSE", "1");
  choice(gemm(8));
  const KeyText key = context().key_text(gemm(8));
  const std::string log = read_text(path("log"));
  EXPECT_TRUE(
      log.starts_with(key.op + ',' + key.params + " -> nothing, tuned in "))
      << log;
}

TEST_F(ContextSwitchesTest, TracesWhereADecisionCameFrom) {
  write_csv(row(7, "Default"));
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("VERBOSE_FILENAME", path("log"));
  context().set_setting("VERBOSE", "3");
  const auto traced = [this](std::int64_t n) {
    std::filesystem::remove(path("log"));
    choice(gemm(n));
    const std::string log = read_text(path("log"));
    const std::string begin = context().key_text(gemm(n)).params + ": ";
    const std::size_t last = log.rfind(begin);
    return last == std::string::npos ? "nothing"
                                     : log.substr(last + begin.size());
  };
  EXPECT_EQ(traced(7), "from the file, Default\n");
  EXPECT_EQ(traced(7), "nothing") << "a hit is silent";
  EXPECT_EQ(traced(8), "tuned by this process, a plan of ours\n");
  device_.may_tune = Status::unsupported("capturing");
  EXPECT_EQ(traced(9), "on miss, Default, for this call only\n");
  ThreadState::current().overlay = context().forced_overlay("Gemm_Fast");
  EXPECT_EQ(traced(7), "forced, a plan of ours\n");
}

// Products of two types have the same params.
TEST_F(ContextSwitchesTest, EachMeasurementNamesTheWholeKey) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("VERBOSE_FILENAME", path("log"));
  context().set_setting("VERBOSE", "2");
  choice(gemm(8));
  const KeyText key = context().key_text(gemm(8));
  const std::string log = read_text(path("log"));
  for (const std::string solution : {"Default", "Gemm_Fast"}) {
    EXPECT_NE(log.find(key.op + ',' + key.params + ": " + solution + ' '),
              std::string::npos)
        << log;
  }
}

TEST_F(ContextSwitchesTest, ShowsThatOtherWorkDisturbedAMeasurement) {
  add({.name = "Gemm_Slow", .ms = 2.0});
  context().set_setting("VERBOSE_FILENAME", path("log"));
  context().set_setting("VERBOSE", "1");
  choice(gemm(8));
  EXPECT_EQ(read_text(path("log")).find("disturbed"), std::string::npos);
  device_.noise = 1;
  choice(gemm(9));
  EXPECT_TRUE(
      read_text(path("log")).ends_with(" ms, disturbed by other work\n"));
}

}  // namespace
}  // namespace tunedops
