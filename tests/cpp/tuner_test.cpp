// Who wins: the fastest correct solution, Default when in doubt, and nobody who
// fails, cheats or breaks something.

#include "tuner_fixture.h"

#include <cmath>

#include "tuning/selection.h"

namespace tunedops {
namespace {

TEST_F(TunerTest, TheFastestWins) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Slow", .ms = 1.1});
  add({.name = "Fast", .ms = 0.5});
  add({.name = "Faster", .ms = 0.4});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Faster");
  EXPECT_NEAR(outcome.time_ms, 0.4, 1e-9);
  EXPECT_NEAR(outcome.default_ms, 1.0, 1e-9);
  EXPECT_NEAR(outcome.elapsed_ms, device_.clock.now_ms(), 1e-6);
  ASSERT_EQ(outcome.measurements.size(), 4U);
  EXPECT_EQ(outcome.measurements[0].solution, "Default");
  EXPECT_EQ(refused(outcome, "Faster"), "");
}

TEST_F(TunerTest, TheOutcomeSaysHowItWasFound) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Fast", .ms = 0.5});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.timing.stopwatch, "fake");
  EXPECT_EQ(outcome.timing.samples, samples(outcome, "Fast"));
  EXPECT_EQ(outcome.timing.samples, samples(outcome, "Default"));
  EXPECT_GT(outcome.timing.samples, 10);
  EXPECT_NEAR(outcome.timing.spread, 0, 1e-9);
  EXPECT_EQ(outcome.timing.margin, kMargin);
  EXPECT_EQ(outcome.timing.date, "2030-01-31");
}

// A normal distribution's quartiles are 0.6745 standard deviations away, and a
// ratio has the noise of two readings.
TEST_F(TunerTest, TheSpreadIsThatOfTheNoise) {
  device_.noise = 0.05;
  limits_.budget_ms = 1e6;
  limits_.duration_ms = 1e4;
  limits_.iterations = 2000;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Fast", .ms = 0.5});
  const Timing won = race().timing;
  EXPECT_NEAR(won.spread, 0.6745 * 0.05 * std::sqrt(2.0), 0.005);
  EXPECT_EQ(won.samples, 2000);
  clear();
  add({.name = "Default", .ms = 1.0});
  add({.name = "Slow", .ms = 1.2});
  const TuneOutcome lost = race();
  ASSERT_EQ(lost.solution, "Default");
  EXPECT_NEAR(lost.timing.spread, 0.6745 * 0.05, 0.005)
      << "there is no ratio but to itself";
}

TEST_F(TunerTest, AConfigIsASolutionOfItsOwn) {
  add({.name = "Default", .ms = 1.0});
  const Config small = Config().with("tile", {16, 16});
  const Config large = Config().with("tile", {64, 64});
  FakeKernel& kernel = add({.name = "Tiled",
                            .configs = {small, large},
                            .ms_of = [&](const Config& config) {
                              return config == large ? 0.3 : 0.6;
                            }});
  EXPECT_EQ(race().solution, "Tiled_tile_64x64");
  EXPECT_GT(kernel.runs(small), 0);
  EXPECT_GT(kernel.runs(large), kernel.runs(small));
}

TEST_F(TunerTest, DefaultWinsTiesAndNearTies) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Equal", .ms = 1.0});
  add({.name = "HardlyFaster", .ms = 0.992});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Default");
  EXPECT_EQ(outcome.time_ms, outcome.default_ms);
  EXPECT_EQ(refused(outcome, "Equal"), "not faster beyond doubt");
  EXPECT_EQ(refused(outcome, "HardlyFaster"), "not faster beyond doubt");
}

TEST_F(TunerTest, DefaultWinsAlone) {
  add({.name = "Default", .ms = 2.0});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Default");
  EXPECT_NEAR(outcome.time_ms, 2.0, 1e-9);
}

TEST_F(TunerTest, NearTiesGoToFewerLaunches) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Two", .ms = 0.500, .launches = 2});
  add({.name = "One", .ms = 0.503, .launches = 1});
  EXPECT_EQ(race().solution, "One");
}

TEST_F(TunerTest, ThenToTheOneRegisteredFirst) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "First", .ms = 0.503});
  add({.name = "Second", .ms = 0.500});
  EXPECT_EQ(race().solution, "First");
}

TEST_F(TunerTest, AClearLeadBeatsFewerLaunches) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "One", .ms = 0.503, .launches = 1});
  add({.name = "Three", .ms = 0.4, .launches = 3});
  EXPECT_EQ(race().solution, "Three");
}

TEST_F(TunerTest, WrongAnswersNeverWin) {
  problem_ = [] {
    GemmProblem p = gemm_problem(6, 5, 4);
    p.ldc = 8;
    return to_key(p);
  }();
  for (const Fault fault :
       {Fault::kWrong, Fault::kWrongCorner, Fault::kNan, Fault::kWritesBehind,
        Fault::kWritesBefore, Fault::kWritesGaps, Fault::kUnwritten}) {
    // One at a time, so that each gets into the final.
    clear();
    add({.name = "Default", .ms = 1.0});
    add({.name = "Right", .ms = 0.6});
    add({.name = "Cheat", .ms = 0.55, .fault = fault});
    const TuneOutcome outcome = race();
    EXPECT_EQ(outcome.solution, "Right") << static_cast<int>(fault);
    EXPECT_TRUE(refused(outcome, "Cheat").starts_with("wr"))
        << refused(outcome, "Cheat");
  }
}

TEST_F(TunerTest, TheReasonSaysWhatWasWrong) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Wrong", .ms = 0.5, .fault = Fault::kWrong});
  add({.name = "Outside", .ms = 0.5, .fault = Fault::kWritesBehind});
  add({.name = "Unwritten", .ms = 0.5, .fault = Fault::kUnwritten});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Default");
  EXPECT_TRUE(
      refused(outcome, "Wrong").starts_with("wrong result at [0, 0, 0]"))
      << refused(outcome, "Wrong");
  EXPECT_EQ(refused(outcome, "Outside"), "writes outside of its output");
  EXPECT_TRUE(refused(outcome, "Unwritten").starts_with("wrong result at"));
}

// What one cheat wrote must not disqualify the next.
TEST_F(TunerTest, EachFinalistStartsFromAFreshOutput) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Outside", .ms = 0.3, .fault = Fault::kWritesBehind});
  add({.name = "Wrong", .ms = 0.4, .fault = Fault::kWrong});
  add({.name = "Right", .ms = 0.5});
  EXPECT_EQ(race().solution, "Right");
}

// Cheats are fast. However many there are, who works is not slow beside them.
TEST_F(TunerTest, CheatsDoNotDriveOutTheRight) {
  add({.name = "Default", .ms = 1.0});
  for (int i = 0; i < 20; ++i) {
    add({.name = "Cheat" + std::to_string(i),
         .ms = 0.01 * (i + 1),
         .fault = Fault::kUnwritten});
  }
  FakeKernel& right = add({.name = "Right", .ms = 0.7});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Right");
  EXPECT_TRUE(refused(outcome, "Cheat19").starts_with("wrong result at"));
  // Nor was it dropped meanwhile: it was screened as long as anybody.
  EXPECT_GT(right.runs() - samples(outcome, "Right"), 40);
}

// A kernel that adds to its output gets the same output each time, or a right
// one would look wrong and a wrong one right.
TEST_F(TunerTest, InPlaceProblemsAreTunedOnFreshCopies) {
  GemmProblem p = gemm_problem(6, 5, 4);
  p.beta = ScalarClass::kAny;
  p.alpha = ScalarClass::kAny;
  problem_ = to_key(p);
  add({.name = "Default", .ms = 1.0});
  add({.name = "Wrong", .ms = 0.4, .fault = Fault::kWrongCorner});
  add({.name = "Right", .ms = 0.5});
  EXPECT_EQ(race().solution, "Right");
}

TEST_F(TunerTest, WithoutTheCheckSpeedIsAll) {
  limits_.numerical_check.enabled = false;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Wrong", .ms = 0.5, .fault = Fault::kWrong});
  EXPECT_EQ(race().solution, "Wrong");
}

TEST_F(TunerTest, TolerancesOfTheUserCount) {
  limits_.numerical_check.absolute = 2.0;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Wrong", .ms = 0.5, .fault = Fault::kWrong});
  EXPECT_EQ(race().solution, "Wrong") << "it is off by one";
}

TEST_F(TunerTest, AFailureDropsACandidateAndNoMore) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Fails",
       .ms = 0.1,
       .fault = Fault::kFails,
       .reason = "no such instruction"});
  add({.name = "FailsLater",
       .ms = 0.2,
       .fault = Fault::kFailsLater,
       .reason = "worn out"});
  add({.name = "Fine", .ms = 0.5});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "Fine");
  EXPECT_EQ(refused(outcome, "Fails"), "no such instruction");
  EXPECT_EQ(refused(outcome, "FailsLater"), "worn out");
}

// Whichever stage it is in.
TEST_F(TunerTest, AnExceptionDropsACandidateAndNoMore) {
  for (int first = 1;; ++first) {
    clear();
    int last = 0;  // of its runs
    add({.name = "Default", .ms = 1.0});
    add({.name = "Throws", .ms = 0.1, .on_run = [&](int run) {
           last = run;
           if (run >= first) {
             throw std::runtime_error("interrupted");
           }
         }});
    add({.name = "Fine", .ms = 0.11});
    const TuneOutcome outcome = race();
    ASSERT_TRUE(outcome.status.is_ok()) << first;
    if (last >= first) {
      EXPECT_EQ(outcome.solution, "Fine") << first;
      EXPECT_EQ(refused(outcome, "Throws"), "interrupted") << first;
    } else {
      EXPECT_EQ(outcome.solution, "Throws") << "it never did";
      EXPECT_GT(first, 40);
      break;
    }
  }
}

TEST_F(TunerTest, AStickyExceptionStopsEverything) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Sticky", .on_run = [](int) {
         throw StatusError(Status::sticky("illegal memory access"));
       }});
  FakeKernel& never = add({.name = "Never", .ms = 0.1});
  const TuneOutcome outcome = race();
  EXPECT_TRUE(outcome.status.is_sticky());
  EXPECT_EQ(outcome.status.reason(), "illegal memory access");
  EXPECT_EQ(never.runs(), 0);
}

TEST_F(TunerTest, AStickyFailureStopsEverything) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Fine", .ms = 0.5});
  FakeKernel& sticky = add({.name = "Sticky",
                            .ms = 0.1,
                            .fault = Fault::kSticky,
                            .reason = "illegal memory access"});
  FakeKernel& never = add({.name = "Never", .ms = 0.1});
  const TuneOutcome outcome = race();
  EXPECT_TRUE(outcome.status.is_sticky());
  EXPECT_EQ(outcome.status.reason(), "illegal memory access");
  EXPECT_EQ(outcome.solution, "");
  EXPECT_EQ(sticky.runs(), 1);
  EXPECT_EQ(never.runs(), 0);
  EXPECT_EQ(device_.open_scopes, 0);
  EXPECT_EQ(device_.allocated.load(), 0U);
}

TEST_F(TunerTest, WithoutDefaultNothingIsDecided) {
  add({.name = "Default", .fault = Fault::kFails, .reason = "no original"});
  FakeKernel& other = add({.name = "Fast", .ms = 0.1});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.status.code(), Status::Code::kFailed);
  EXPECT_EQ(outcome.status.reason(), "no original");
  EXPECT_EQ(outcome.solution, "");
  EXPECT_EQ(other.runs(), 0);
}

TEST_F(TunerTest, TooLittleMemoryDecidesNothing) {
  device_.memory_bytes = 1024;
  FakeKernel& standard = add({.name = "Default"});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.status.reason(), "not enough free memory to tune on");
  EXPECT_EQ(standard.runs(), 0);
}

TEST_F(TunerTest, WorkspaceIsThereForTheHungriest) {
  device_.memory_bytes = 100000;
  add({.name = "Default"});
  add({.name = "Small", .ms = 0.5, .workspace = 5000});
  add({.name = "Large", .ms = 0.4, .workspace = 50000});
  EXPECT_EQ(race().solution, "Large");
  EXPECT_GE(device_.most_allocated.load(), 50000U);
  EXPECT_LE(device_.most_allocated.load(), 100000U);
  EXPECT_EQ(device_.allocated.load(), 0U);
}

TEST_F(TunerTest, TunesAnOpThatIsNoMatrixProduct) {
  op_ = &scale_op();
  problem_ = scale_problem(1000);
  add({.name = "Default", .ms = 1.0});
  add({.name = "Wrong", .ms = 0.1, .fault = Fault::kWrongCorner});
  add({.name = "Fast", .ms = 0.5});
  EXPECT_EQ(race().solution, "Fast");
}

TEST_F(TunerTest, TheBackendKnowsThatItTunes) {
  add({.name = "Default"});
  race();
  EXPECT_EQ(device_.scopes, 1);
  EXPECT_EQ(device_.open_scopes, 0);
}

TEST_F(TunerTest, TunesOnTheStreamThatTheBackendChose) {
  int theirs = 0;
  int ours = 0;
  stream_.handle = &theirs;
  add({.name = "Default"});
  race();
  EXPECT_EQ(device_.last_stream, &theirs);
  device_.tuning_stream.handle = &ours;
  race();
  EXPECT_EQ(device_.last_stream, &ours);
}

}  // namespace
}  // namespace tunedops
