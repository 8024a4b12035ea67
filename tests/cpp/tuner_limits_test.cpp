// How much a race may cost: iterations are counted, durations and the budget
// are read off a clock that only the candidates move.

#include "tuner_fixture.h"

namespace tunedops {
namespace {

using TunerLimitsTest = TunerTest;

TEST_F(TunerLimitsTest, NoIterationsAndNoDurationStillDecide) {
  limits_.iterations = 0;
  limits_.duration_ms = 0;
  limits_.warmup_iterations = 0;
  FakeKernel& standard = add({.name = "Default", .ms = 1.0});
  FakeKernel& fast = add({.name = "Fast", .ms = 0.5});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Fast");
  // A first run, one of screening, one for the check, one of the final.
  EXPECT_EQ(standard.runs(), 4);
  EXPECT_EQ(fast.runs(), 4);
}

TEST_F(TunerLimitsTest, OneReadingMustConvince) {
  limits_.iterations = 1;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Faster", .ms = 0.93});
  EXPECT_EQ(race().solution, "Default");
  limits_.iterations = 100;
  EXPECT_EQ(race().solution, "Faster");
}

TEST_F(TunerLimitsTest, IterationsBoundEverySolution) {
  limits_.duration_ms = 1e9;
  limits_.budget_ms = 1e9;
  limits_.warmup_iterations = 2;
  for (const int iterations : {1, 5, 17, 60}) {
    clear();
    limits_.iterations = iterations;
    FakeKernel& standard = add({.name = "Default", .ms = 1.0});
    FakeKernel& fast = add({.name = "Fast", .ms = 0.8});
    const TuneOutcome outcome = race();
    // First run, warm-up, screening, check, and one call in each round.
    const int most = 1 + 2 + iterations + 1 + iterations;
    EXPECT_LE(standard.runs(), most) << iterations;
    EXPECT_LE(fast.runs(), most) << iterations;
    EXPECT_EQ(samples(outcome, "Default"), iterations);
    EXPECT_EQ(samples(outcome, "Fast"), iterations);
  }
}

TEST_F(TunerLimitsTest, ASolutionThatIsClearlySlowIsDroppedSoon) {
  add({.name = "Default", .ms = 1.0});
  FakeKernel& slow = add({.name = "Slow", .ms = 5.0});
  const TuneOutcome outcome = race();
  EXPECT_EQ(refused(outcome, "Slow"), "slower than others");
  EXPECT_EQ(samples(outcome, "Slow"), 0);
  EXPECT_EQ(slow.runs(), 3) << "a first run, two readings";
}

TEST_F(TunerLimitsTest, ScreeningEndsWithTheDurationOfASolution) {
  limits_.duration_ms = 30;
  limits_.budget_ms = 1e9;
  add({.name = "Default", .ms = 4.0});
  std::vector<FakeKernel*> challengers;
  for (int i = 0; i < 13; ++i) {
    challengers.push_back(
        &add({.name = "K" + std::to_string(i), .ms = 3.5 + 0.01 * i}));
  }
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "K0");
  int dropped = 0;
  for (const FakeKernel* kernel : challengers) {
    if (samples(outcome, std::string(kernel->name())) == 0) {
      ++dropped;
      // 30 ms end in the ninth call; the first run and the warm-up are extra.
      EXPECT_LE(kernel->runs(), 9 + 2) << kernel->name();
    }
  }
  EXPECT_EQ(dropped, 10) << "three get into the final";
}

TEST_F(TunerLimitsTest, AHugeDurationScreensAsOftenAsASmallOne) {
  limits_.duration_ms = 2147483647;
  limits_.budget_ms = 1e9;
  limits_.iterations = 44;
  add({.name = "Default", .ms = 0.001});
  FakeKernel& fast = add({.name = "Fast", .ms = 0.0008});
  race();
  // First run, 44 of screening, check, 44 of the final.
  EXPECT_EQ(fast.runs(), 1 + 44 + 1 + 44);
}

TEST_F(TunerLimitsTest, TheFinalIsBoundedByTheDurationToo) {
  limits_.duration_ms = 10;
  limits_.budget_ms = 1e9;
  add({.name = "Default", .ms = 2.0});
  add({.name = "Fast", .ms = 1.8});
  const TuneOutcome outcome = race();
  // Four times the duration for each of both, a round being 3.8 ms.
  EXPECT_LE(samples(outcome, "Fast"), 22);
  EXPECT_GE(samples(outcome, "Fast"), 20);
}

TEST_F(TunerLimitsTest, TheBudgetBoundsTheFinal) {
  limits_.budget_ms = 100;
  limits_.duration_ms = 1e9;
  limits_.iterations = 1000000;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Fast", .ms = 0.5});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Fast");
  EXPECT_LE(outcome.elapsed_ms, 101.5) << "a round is 1.5 ms";
  EXPECT_GE(outcome.elapsed_ms, 100);
}

// One candidate turns out to be so slow that the budget is gone: it costs its
// first run and no more, those behind it nothing, and what is known decides.
TEST_F(TunerLimitsTest, TheBudgetBoundsScreening) {
  limits_.budget_ms = 100;
  FakeKernel& standard = add({.name = "Default", .ms = 1.0});
  add({.name = "Fine", .ms = 0.5});
  FakeKernel& endless = add({.name = "Endless", .ms = 200});
  FakeKernel& late = add({.name = "Late", .ms = 0.1});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Fine");
  EXPECT_EQ(endless.runs(), 1);
  EXPECT_EQ(late.runs(), 0);
  EXPECT_EQ(refused(outcome, "Late"), "no time left to try it");
  EXPECT_LE(standard.runs(), 5);
  EXPECT_LE(outcome.elapsed_ms, 210);
}

TEST_F(TunerLimitsTest, ShortCallsAreTimedInBatches) {
  device_.resolution_ms = 0.02;
  limits_.iterations = 50;
  limits_.duration_ms = 1;
  add({.name = "Default", .ms = 0.001});
  FakeKernel& fast = add({.name = "Fast", .ms = 0.0005});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Fast");
  EXPECT_NEAR(outcome.time_ms, 0.0005, 1e-9);
  // A reading of the final covers 40 calls of it.
  EXPECT_GE(fast.runs(), 40 * samples(outcome, "Fast"));
}

TEST_F(TunerLimitsTest, WarmsUpForAsLongAsAsked) {
  limits_.iterations = 1;
  limits_.warmup_iterations = 0;
  limits_.warmup_duration_ms = 10;
  FakeKernel& standard = add({.name = "Default", .ms = 1.0});
  race();
  EXPECT_EQ(standard.runs(), 1 + 10 + 1 + 1);
}

// Noise of 5 % and equal kernels, a hundred machines: the wrong decision is
// made almost never. Nor is a tenth missed.
TEST_F(TunerLimitsTest, NoiseDoesNotDecide) {
  int wrong = 0;
  int missed = 0;
  device_.noise = 0.05;
  limits_.budget_ms = 1e9;
  limits_.numerical_check.enabled = false;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    device_.seed = seed;
    clear();
    add({.name = "Default", .ms = 0.1});
    add({.name = "Equal", .ms = 0.1});
    add({.name = "AlsoEqual", .ms = 0.1});
    wrong += race().solution != "Default" ? 1 : 0;
    add({.name = "Faster", .ms = 0.09});
    missed += race().solution != "Faster" ? 1 : 0;
  }
  EXPECT_LE(wrong, 1);
  EXPECT_LE(missed, 1);
}

// Operands of a hundred megabytes take a processor as long as that.
TEST_F(TunerLimitsTest, OperandsThatTakeLongLeaveTimeToTry) {
  add({.name = "Default", .ms = 27.0});
  add({.name = "Fast", .ms = 10.0});
  for (const double share : {0.0, 0.25, 0.5}) {
    device_.allocating_ms = share * limits_.budget_ms;
    const TuneOutcome outcome = race();
    EXPECT_EQ(outcome.solution, "Fast") << share;
    EXPECT_LE(outcome.elapsed_ms, limits_.budget_ms + 50) << share;
  }
}

TEST_F(TunerLimitsTest, KnowsWhenOtherWorkDisturbsIt) {
  add({.name = "Default", .ms = 0.1});
  device_.noise = 0.05;
  EXPECT_FALSE(race().disturbed);
  EXPECT_EQ(race().timing.stopwatch, "fake");
  device_.noise = 2;
  EXPECT_TRUE(race().disturbed);
  device_.noise = 0;
  EXPECT_FALSE(race().disturbed);
  // All readings are alike then.
  device_.waited_share = 0.3;
  EXPECT_TRUE(race().disturbed);
  EXPECT_EQ(race().timing.stopwatch, "fake-busy");
}

// Default's victory over nobody is no result.
TEST_F(TunerLimitsTest, WithoutTimeToTryAnyOtherNothingIsDecided) {
  add({.name = "Default", .ms = 100.0});
  FakeKernel& fast = add({.name = "Fast", .ms = 1.0});
  limits_.budget_ms = 10;
  const TuneOutcome outcome = race();
  EXPECT_FALSE(outcome.status.is_ok());
  EXPECT_NE(outcome.status.reason().find("MAX_TUNING_BUDGET_MS"),
            std::string::npos)
      << outcome.status.reason();
  EXPECT_EQ(fast.runs(), 0);
  limits_.budget_ms = 2000;
  EXPECT_EQ(race().solution, "Fast");
}

// What takes a quarter of the budget is decided all the same.
TEST_F(TunerLimitsTest, LongCallsAreReadFromTheirFirstRuns) {
  add({.name = "Default", .ms = 100.0});
  FakeKernel& fast = add({.name = "Fast", .ms = 45.0});
  limits_.budget_ms = 400;
  device_.allocating_ms = 20;  // for each of the operands
  device_.sees_single_runs = true;
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok()) << outcome.status.reason();
  EXPECT_EQ(outcome.solution, "Fast");
  EXPECT_NEAR(outcome.time_ms, 45, 1e-9);
  EXPECT_NEAR(outcome.default_ms, 100, 1e-9);
  EXPECT_LE(outcome.elapsed_ms, 400 + 100);
  EXPECT_LE(fast.runs(), 3);
}

TEST_F(TunerLimitsTest, AFirstRunOfAShortCallIsNoReading) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Loaded", .ms = 0.5, .load_ms = 10});
  device_.sees_single_runs = true;
  limits_.budget_ms = 400;
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Loaded");
  EXPECT_NEAR(outcome.time_ms, 0.5, 1e-9);
}

// A larger budget would find it, so nothing is stored.
TEST_F(TunerLimitsTest, WhatTimeDidNotAllowToTellIsNoVictoryOfDefault) {
  add({.name = "Default", .ms = 100.0});
  add({.name = "Faster", .ms = 70.0});
  device_.sees_single_runs = true;
  limits_.budget_ms = 450;
  const TuneOutcome early = race();
  EXPECT_FALSE(early.status.is_ok());
  EXPECT_NE(early.status.reason().find("Faster is faster than Default"),
            std::string::npos)
      << early.status.reason();
  limits_.budget_ms = 4000;
  EXPECT_EQ(race().solution, "Faster");
}

// What the tuner measured as the winner is what it ran.
TEST_F(TunerLimitsTest, TheWinnerIsWhoRan) {
  add({.name = "Default", .ms = 1.0});
  std::vector<Config> configs;
  for (int tile = 1; tile <= 40; ++tile) {
    configs.push_back(Config().with("tile", tile));
  }
  FakeKernel& kernel =
      add({.name = "Tiled", .configs = configs, .ms_of = [](const Config& c) {
             return c.at("tile") == 29 ? 0.5 : 0.6 + 0.01 * c.at("tile");
           }});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Tiled_tile_29");
  EXPECT_NEAR(outcome.time_ms, 0.5, 1e-9);
  const int most = kernel.runs(Config().with("tile", 29));
  for (const Config& config : configs) {
    EXPECT_LE(kernel.runs(config), most) << config.to_text();
    EXPECT_GE(kernel.runs(config), 1) << "each got its chance";
  }
  EXPECT_EQ(outcome.measurements.size(), 41U);
}

// Between the ends of the stages too: who never ran has nothing to be timed.
TEST_F(TunerTest, AFirstRunOfAnyLengthLeavesNobodyToBeTimedWhoNeverRan) {
  limits_.budget_ms = 100;
  for (int percent = 1; percent <= 110; ++percent) {
    clear();
    add({.name = "Default", .ms = 0.5, .load_ms = double(percent)});
    FakeKernel& rival = add({.name = "Rival", .ms = 0.1});
    const TuneOutcome outcome = race();
    if (outcome.status.is_ok()) {
      EXPECT_GT(rival.runs(), 0) << percent;
    } else {
      EXPECT_EQ(rival.runs(), 0) << percent;
      EXPECT_NE(outcome.status.reason().find("no time to try"),
                std::string::npos)
          << outcome.status.reason();
    }
  }
}

}  // namespace
}  // namespace tunedops
