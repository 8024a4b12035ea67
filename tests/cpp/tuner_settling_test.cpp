// Devices that get slower by hard work: what is timed for the decision is what
// a program sees that does not rest.

#include "tuner_fixture.h"

namespace tunedops {
namespace {

constexpr double kSettlingMs = 50;

// As many multiply-adds for a byte as a large matrix product has.
class HardScale final : public ScaleDefinition {
 public:
  std::int64_t reference_cost(const ProblemKey&) const override { return 1024; }
};

class TunerSettlingTest : public TunerTest {
 protected:
  TunerSettlingTest() {
    op_ = &hard_op();
    problem_ = scale_problem(64);
    device_.settling_ms = kSettlingMs;
    limits_.iterations = 30;
  }

  static const FakeOp& hard_op() {
    static const HardScale definition;
    static const FakeOp op{kScaleOp, definition, &compute_scale};
    return op;
  }

  bool has_settled() const { return device_.worked_ms >= 0.8 * kSettlingMs; }

  /// Takes so long, and longer once the device has settled.
  void add_hungry(const std::string& name, double rested_ms,
                  double settled_ms) {
    add({.name = name, .ms_of = [=, this](const Config&) {
           times_.push_back(has_settled() ? settled_ms : rested_ms);
           return times_.back();
         }});
  }

  std::vector<double> times_;  // of all runs of all kernels
};

TEST_F(TunerSettlingTest, WinnersAreFastWithoutARest) {
  limits_.iterations = 4;
  add_hungry("Default", 0.1, 0.12);
  add_hungry("Frugal", 0.1, 0.1);
  EXPECT_EQ(race().solution, "Frugal");
  clear();
  add_hungry("Default", 0.1, 0.1);
  add_hungry("Hungry", 0.09, 0.12);
  EXPECT_EQ(race().solution, "Default");
}

TEST_F(TunerSettlingTest, WhereWorkChangesNoClocksNobodyWaits) {
  device_.settling_ms = 0;
  limits_.iterations = 4;
  add_hungry("Default", 0.1, 0.12);
  add_hungry("Frugal", 0.1, 0.1);
  EXPECT_EQ(race().solution, "Default");
  EXPECT_LT(device_.worked_ms, kSettlingMs / 2);
}

TEST_F(TunerSettlingTest, WhoWaitsForMemoryNeedNotSettle) {
  op_ = &scale_op();
  limits_.iterations = 4;
  add_hungry("Default", 0.1, 0.12);
  add_hungry("Frugal", 0.1, 0.1);
  race();
  EXPECT_LT(device_.worked_ms, kSettlingMs / 2);
}

TEST_F(TunerSettlingTest, NorDoesWhoIsShortOrLong) {
  limits_.iterations = 4;
  for (const double ms : {0.01, 3.0}) {
    clear();
    times_.clear();
    add_hungry("Default", ms, 2 * ms);
    add_hungry("Frugal", ms, ms);
    limits_.duration_ms = 4 * ms;
    race();
    EXPECT_EQ(*std::max_element(times_.begin(), times_.end()), ms);
  }
}

TEST_F(TunerSettlingTest, ReadingsOfTheFinalAreLongOnceSettled) {
  add_hungry("Default", 0.1, 0.12);
  add_hungry("Frugal", 0.1, 0.1);
  const TuneOutcome outcome = race();
  EXPECT_GE(outcome.timing.samples, 7);
  // 10 calls a reading, of both.
  EXPECT_GE(static_cast<int>(times_.size()), 20 * outcome.timing.samples);
}

TEST_F(TunerSettlingTest, TheBudgetHoldsAllTheSame) {
  for (const double budget_ms : {5.0, 20.0, 100.0, 400.0}) {
    clear();
    limits_.budget_ms = budget_ms;
    add_hungry("Default", 0.5, 0.6);
    for (int i = 0; i < 20; ++i) {
      add_hungry("Rival_" + std::to_string(i), 0.5, 0.55);
    }
    EXPECT_LE(race().elapsed_ms, budget_ms + 5) << budget_ms;
  }
}

TEST_F(TunerSettlingTest, ADefaultThatFailsWhileItSettlesEndsTheRace) {
  add({.name = "Default", .ms = 0.1, .fault = Fault::kFailsLater});
  add({.name = "Rival", .ms = 0.09});
  const TuneOutcome outcome = race();
  EXPECT_FALSE(outcome.status.is_ok());
  EXPECT_EQ(outcome.solution, "");
}

}  // namespace
}  // namespace tunedops
