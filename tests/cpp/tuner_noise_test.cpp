// Whole races on a clock whose every reading is off, a thousand times with
// other noise: whoever is no faster than Default wins almost never, and whoever
// is faster almost always. The longer a call, the fewer rounds the budget
// leaves to tell them apart.

#include "tuner_fixture.h"

namespace tunedops {
namespace {

constexpr int kSeeds = 1000;

// Neighbouring seeds begin alike.
constexpr unsigned kStride = 2654435761;

class TunerNoiseTest : public TunerTest {
 protected:
  void add_equals(int count, double ms) {
    for (int i = 0; i < count; ++i) {
      add({.name = "Equal" + std::to_string(i), .ms = ms});
    }
  }

  /// Of races between Default and some that are as fast, the share that one of
  /// those wins.
  double wrong(int equals, double ms) {
    clear();
    add({.name = "Default", .ms = ms});
    add_equals(equals, ms);
    return share_won([](const std::string& solution) {
      return solution.starts_with("Equal");
    });
  }

  /// The share of races that a challenger wins which takes `factor` of the time
  /// of all others.
  double right(double factor, int equals, double ms) {
    clear();
    add({.name = "Default", .ms = ms});
    add_equals(equals, ms);
    add({.name = "Faster", .ms = factor * ms});
    return share_won(
        [](const std::string& solution) { return solution == "Faster"; });
  }

 private:
  template <class IsOne>
  double share_won(const IsOne& is_one) {
    int won = 0;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      device_.seed = kStride * seed;
      won += is_one(race().solution) ? 1 : 0;
    }
    return static_cast<double>(won) / kSeeds;
  }
};

// From 100 rounds down to a single one, which is what the longest ones get.
TEST_F(TunerNoiseTest, AnEqualWinsAlmostNever) {
  device_.noise = 0.05;
  for (const double ms : {0.1, 1.0, 5.0, 10.0, 14.0, 20.0, 30.0, 50.0}) {
    EXPECT_LT(wrong(1, ms), 0.01) << ms;
  }
}

// Of many equals the lucky ones get into the final, and three may be lucky.
TEST_F(TunerNoiseTest, NoneOfManyEqualsWins) {
  device_.noise = 0.05;
  for (const double ms : {0.1, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 20.0}) {
    EXPECT_LT(wrong(8, ms), 0.01) << ms;
  }
}

TEST_F(TunerNoiseTest, AnEqualDoesNotWinByDisturbedReadings) {
  device_.noise = 0.05;
  device_.disturbed = 20;
  for (const double ms : {0.1, 5.0, 14.0, 20.0, 50.0}) {
    EXPECT_LT(wrong(1, ms), 0.01) << ms;
    EXPECT_LT(wrong(8, ms), 0.01) << ms;
  }
}

TEST_F(TunerNoiseTest, AnEqualOfLongCallsDoesNotWinOnAQuietMachine) {
  device_.noise = 0.01;
  for (const double ms : {5.0, 20.0}) {
    EXPECT_LT(wrong(1, ms), 0.01) << ms;
    EXPECT_LT(wrong(8, ms), 0.01) << ms;
  }
}

TEST_F(TunerNoiseTest, ATenthFasterWinsAlmostAlways) {
  device_.noise = 0.05;
  for (const double ms : {0.1, 1.0}) {
    EXPECT_GE(right(0.9, 0, ms), 0.99) << ms;
    // Of nine, three that are luckier may take its place in the final.
    EXPECT_GE(right(0.9, 8, ms), 0.97) << ms;
  }
}

TEST_F(TunerNoiseTest, LongCallsNeedFewRoundsOnAQuietMachine) {
  device_.noise = 0.01;
  for (const double ms : {5.0, 10.0, 20.0}) {
    EXPECT_GE(right(0.95, 0, ms), 0.95) << ms;
  }
  EXPECT_GE(right(0.95, 8, 5.0), 0.95);
}

}  // namespace
}  // namespace tunedops
