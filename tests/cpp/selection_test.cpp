// The rule that picks winners, as statistics: over a thousand noisy races, a
// challenger that is no faster is let through almost never, and one that is
// clearly faster almost always.

#include "tuning/selection.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfBoth) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1}), 2);
  EXPECT_EQ(median({9, 1, 3}), 3);
  EXPECT_EQ(median({9, 1, 3, 5}), 4);
  EXPECT_EQ(median({1, 1, 1, 100}), 1);
}

TEST(MedianUpperBound, OfFewValuesIsTheLargestAndAPenalty) {
  EXPECT_EQ(median_upper_bound({}), INFINITY);
  EXPECT_DOUBLE_EQ(median_upper_bound({0.5}), 0.5 * kFewSamplesPenalty);
  EXPECT_DOUBLE_EQ(median_upper_bound({0.5, 0.9, 0.7}),
                   0.9 * kFewSamplesPenalty);
}

TEST(MedianUpperBound, IsTheOrderStatisticThatTheBinomialGives) {
  // The largest rank r with P(Binomial(n, 1/2) >= r) <= 0.5 %, from tables.
  const auto rank = [](int count) {
    std::vector<double> values;
    for (int i = count; i >= 1; --i) {
      values.push_back(i);
    }
    return median_upper_bound(values);
  };
  EXPECT_EQ(rank(8), 8);
  EXPECT_EQ(rank(11), 11);
  EXPECT_EQ(rank(12), 11);
  EXPECT_EQ(rank(20), 17);
  EXPECT_EQ(rank(100), 64);
}

// Far out the binomial is normal: half plus 2.58 standard deviations.
TEST(MedianUpperBound, HoldsForAnyNumberOfValues) {
  for (const int count : {500, 1000, 1100, 2000, 5000, 100000}) {
    std::vector<double> values;
    for (int i = 1; i <= count; ++i) {
      values.push_back(i);
    }
    const double expected = count / 2.0 + 2.5758 * std::sqrt(count) / 2;
    EXPECT_NEAR(median_upper_bound(values), expected, 2 + expected * 0.001)
        << count;
  }
}

TEST(MedianUpperBound, CoversTheMedianAsOftenAsItSays) {
  std::mt19937 engine(1);
  std::lognormal_distribution<double> skewed(0.0, 0.5);  // median 1
  for (const int count : {8, 15, 40, 100}) {
    int covered = 0;
    for (int race = 0; race < 2000; ++race) {
      std::vector<double> values(static_cast<std::size_t>(count));
      for (double& value : values) {
        value = skewed(engine);
      }
      covered += median_upper_bound(values) >= 1.0 ? 1 : 0;
    }
    EXPECT_GE(covered, 2000 * 0.99) << count;
  }
}

TEST(RelativeSpread, IsHalfTheDistanceOfTheQuartilesOverTheMedian) {
  EXPECT_EQ(relative_spread({}), 0);
  EXPECT_EQ(relative_spread({3}), 0);
  EXPECT_EQ(relative_spread({0, 0}), 0) << "no median to compare with";
  EXPECT_DOUBLE_EQ(relative_spread({4, 1, 5, 2, 3}), 1.0 / 3);
  // Quartiles 1.75 and 3.25, half way between, as the median is.
  EXPECT_DOUBLE_EQ(relative_spread({1, 2, 3, 4}), 0.75 / 2.5);
  EXPECT_DOUBLE_EQ(relative_spread({40, 10, 50, 20, 30}), 1.0 / 3);
}

TEST(RelativeSpread, LooksPastLongTails) {
  EXPECT_EQ(relative_spread({2, 2, 2, 2, 2, 2, 2, 100}), 0);
}

TEST(ComparePaired, LooksAtPairsAndNotAtLevels) {
  // A machine that gets slower and slower: the challenger's readings are higher
  // than Default's earlier ones, yet it wins each round.
  std::vector<double> baseline;
  std::vector<double> challenger;
  for (int round = 0; round < 20; ++round) {
    baseline.push_back(1.0 + round);
    challenger.push_back(0.8 * (1.0 + round));
  }
  const Verdict verdict = compare_paired(challenger, baseline);
  EXPECT_DOUBLE_EQ(verdict.ratio, 0.8);
  EXPECT_DOUBLE_EQ(verdict.upper_bound, 0.8);
  EXPECT_NEAR(verdict.spread, 0, 1e-12) << "of the ratios, not of the readings";
  EXPECT_TRUE(verdict.accepted);
}

TEST(ComparePaired, TheSpreadIsThatOfTheRatios) {
  const std::vector<double> challenger{0.9, 0.7, 1.6, 0.75, 0.85};
  const std::vector<double> baseline{1, 1, 2, 1, 1};
  EXPECT_DOUBLE_EQ(compare_paired(challenger, baseline).spread, 0.05 / 0.8);
}

TEST(ComparePaired, NeedsTheMarginAndSomethingToCompare) {
  const std::vector<double> ones(20, 1.0);
  EXPECT_FALSE(compare_paired({}, ones).accepted);
  EXPECT_FALSE(compare_paired(ones, {}).accepted);
  EXPECT_FALSE(compare_paired(ones, ones).accepted);
  EXPECT_FALSE(compare_paired(std::vector<double>(20, 0.985), ones).accepted);
  EXPECT_TRUE(compare_paired(std::vector<double>(20, 0.975), ones).accepted);
}

TEST(ComparePaired, OneReadingMustBeMuchBetter) {
  const std::vector<double> one{1.0};
  EXPECT_FALSE(compare_paired(std::vector<double>{0.90}, one).accepted);
  EXPECT_TRUE(compare_paired(std::vector<double>{0.88}, one).accepted);
}

TEST(ComparePaired, OneSlowRoundDoesNotMatter) {
  std::vector<double> challenger(40, 0.9);
  challenger[7] = 100;
  EXPECT_TRUE(
      compare_paired(challenger, std::vector<double>(40, 1.0)).accepted);
}

// The share of a thousand races that a challenger of the given speed wins, each
// reading off by `noise`, the machine itself drifting, and one in twenty
// readings disturbed.
double acceptance(double speed, double noise, int rounds) {
  int accepted = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> tail(2.0);
    const auto reading = [&](double level) {
      const double disturbed = engine() % 20 == 0 ? tail(engine) : 0;
      return level * std::exp(noise * normal(engine)) * (1 + disturbed);
    };
    double drift = 1;
    std::vector<double> baseline;
    std::vector<double> challenger;
    for (int round = 0; round < rounds; ++round) {
      drift *= std::exp(0.01 * normal(engine));
      baseline.push_back(reading(drift));
      challenger.push_back(reading(speed * drift));
    }
    accepted += compare_paired(challenger, baseline).accepted ? 1 : 0;
  }
  return accepted / 1000.0;
}

TEST(ComparePaired, EqualSpeedIsAcceptedAlmostNever) {
  for (const int rounds : {1, 3, 8, 20, 100}) {
    // A handful of readings cannot be as sure.
    EXPECT_LT(acceptance(1.0, 0.05, rounds), rounds < 8 ? 0.10 : 0.01)
        << rounds;
  }
  EXPECT_LT(acceptance(0.99, 0.05, 100), 0.01) << "within the margin";
}

TEST(ComparePaired, ATenthFasterIsAcceptedAlmostAlways) {
  EXPECT_GE(acceptance(0.9, 0.05, 100), 0.99);
  EXPECT_GE(acceptance(0.9, 0.01, 20), 0.99);
}

TEST(ComparePaired, AThousandRoundsDoNotLowerTheBar) {
  EXPECT_LT(acceptance(1.0, 0.05, 1200), 0.01);
  EXPECT_GE(acceptance(0.95, 0.05, 1200), 0.99);
}

}  // namespace
}  // namespace tunedops
