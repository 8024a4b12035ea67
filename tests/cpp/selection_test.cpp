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

TEST(MedianUpperBound, NeedsEightValues) {
  EXPECT_EQ(median_upper_bound({}), INFINITY);
  EXPECT_EQ(median_upper_bound(std::vector<double>(7, 0.5)), INFINITY);
  EXPECT_EQ(median_upper_bound(std::vector<double>(8, 0.5)), 0.5);
}

TEST(MedianUpperBound, IsTheOrderStatisticThatTheBinomialGives) {
  // The largest rank r with P(Binomial(n, 1/2) >= r) <= 0.4 %, from tables.
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
  // Less doubt takes more values, or a higher rank.
  EXPECT_EQ(median_upper_bound(std::vector<double>(9, 0.5), 0.001), INFINITY);
  EXPECT_EQ(median_upper_bound(std::vector<double>(10, 0.5), 0.001), 0.5);
}

// Far out the binomial is normal: half plus 2.65 standard deviations, and 3.0
// where a third of that doubt is not told apart from it.
TEST(MedianUpperBound, HoldsForAnyNumberOfValues) {
  for (const int count : {500, 1000, 1100, 2000, 5000, 100000}) {
    std::vector<double> values;
    for (int i = 1; i <= count; ++i) {
      values.push_back(i);
    }
    const double deviations = count > 1000 ? 3.004 : 2.652;
    const double expected = count / 2.0 + deviations * std::sqrt(count) / 2;
    EXPECT_NEAR(median_upper_bound(values), expected, 2 + expected * 0.001)
        << count;
  }
}

TEST(MedianUpperBound, CoversTheMedianAsOftenAsItSays) {
  std::mt19937 engine(1);
  std::lognormal_distribution<double> skewed(0.0, 0.5);  // median 1
  for (const int count : {9, 15, 40, 100}) {
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

TEST(FewRatiosUpperBound, OfOneOrTwoIsFarAboveThem) {
  EXPECT_EQ(few_ratios_upper_bound({}, 1), INFINITY);
  EXPECT_DOUBLE_EQ(few_ratios_upper_bound({0.5}, 1), 0.5 * kUnknownNoise);
  EXPECT_DOUBLE_EQ(few_ratios_upper_bound({0.5, 0.7}, 3), 0.7 * kUnknownNoise);
}

// Quantiles from tables: 99.6 % for one finalist, 99.8 % for each of two.
TEST(FewRatiosUpperBound, IsStudentsOnLogarithms) {
  const auto bound = [](int count, std::size_t finalists) {
    std::vector<double> ratios{0.8 * std::exp(-0.1), 0.8 * std::exp(0.1)};
    ratios.resize(static_cast<std::size_t>(count), 0.8);
    return few_ratios_upper_bound(ratios, finalists);
  };
  const auto expected = [](int count, double quantile) {
    const double variance = 2 * 0.1 * 0.1 / (count - 1);
    return 0.8 * std::exp(quantile * std::sqrt(variance / count));
  };
  EXPECT_NEAR(bound(3, 1), expected(3, 11.113), 1e-9);
  EXPECT_NEAR(bound(3, 2), expected(3, 15.764), 1e-9);
  EXPECT_NEAR(bound(7, 1), expected(7, 3.898), 1e-9);
  EXPECT_NEAR(bound(7, 2), expected(7, 4.524), 1e-9);
  EXPECT_NEAR(bound(11, 1), expected(11, 3.301), 1e-9);
  EXPECT_NEAR(bound(11, 2), expected(11, 3.716), 1e-9);
}

TEST(FewRatiosUpperBound, CoversAllFinalistsAsOftenAsItSays) {
  std::mt19937 engine(1);
  std::lognormal_distribution<double> reading(0.0, 0.2);
  for (const int count : {3, 4, 5, 6, 7, 8, 9, 10, 11}) {
    for (const std::size_t finalists : {1, 2, 3}) {
      int covered = 0;
      for (int race = 0; race < 5000; ++race) {
        std::vector<double> baseline(static_cast<std::size_t>(count));
        for (double& value : baseline) {
          value = reading(engine);
        }
        bool all = true;
        for (std::size_t finalist = 0; finalist < finalists; ++finalist) {
          std::vector<double> ratios = baseline;
          for (double& ratio : ratios) {
            ratio = reading(engine) / ratio;
          }
          all = all && few_ratios_upper_bound(ratios, finalists) >= 1.0;
        }
        covered += all ? 1 : 0;
      }
      EXPECT_GE(covered, 5000 * 0.994) << count << ' ' << finalists;
      EXPECT_LE(covered, 5000 * 0.9985) << "stricter than it says";
    }
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
  EXPECT_FALSE(compare_paired(std::vector<double>(20, 0.992), ones).accepted);
  EXPECT_TRUE(compare_paired(std::vector<double>(20, 0.985), ones).accepted);
}

TEST(ComparePaired, OneOrTwoReadingsMustBeMuchBetter) {
  const std::vector<double> ones(2, 1.0);
  const auto accepted = [&](const std::vector<double>& challenger) {
    return compare_paired(challenger, ones).accepted;
  };
  EXPECT_FALSE(accepted({0.60}));
  EXPECT_TRUE(accepted({0.50}));
  EXPECT_FALSE(accepted({0.50, 0.60}));
  EXPECT_TRUE(accepted({0.50, 0.50}));
}

// Of a call that takes milliseconds the budget allows a few rounds only.
TEST(ComparePaired, AFewRoundsThatAgreeAreEnough) {
  const std::vector<double> ones(6, 1.0);
  const std::vector<double> agree{0.94, 0.96, 0.95, 0.94, 0.96, 0.95};
  EXPECT_TRUE(compare_paired(agree, ones).accepted);
  EXPECT_TRUE(compare_paired(std::span(agree).first(4), ones).accepted);
  EXPECT_FALSE(compare_paired(std::span(agree).first(3), ones).accepted);
  const std::vector<double> one_doubt{0.94, 0.96, 0.95, 1.05, 0.96, 0.95};
  EXPECT_FALSE(compare_paired(one_doubt, ones).accepted);
  const std::vector<double> surely_by_little(6, 0.992);
  EXPECT_FALSE(compare_paired(surely_by_little, ones).accepted);
}

TEST(ComparePaired, OneOfThreeFinalistsMustBeSurer) {
  const std::vector<double> ones(4, 1.0);
  const std::vector<double> agree{0.94, 0.96, 0.95, 0.97};
  EXPECT_TRUE(compare_paired(agree, ones, 1).accepted);
  EXPECT_FALSE(compare_paired(agree, ones, 3).accepted);
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
  for (const int rounds : {1, 2, 3, 5, 8, 11, 12, 20, 100}) {
    EXPECT_LT(acceptance(1.0, 0.05, rounds), 0.01) << rounds;
  }
}

// It is faster, so to accept it does no harm; but it is seldom worth a change.
TEST(ComparePaired, WhoeverIsWithinTheMarginIsAcceptedSeldom) {
  EXPECT_LT(acceptance(0.995, 0.05, 100), 0.1);
  EXPECT_LT(acceptance(0.995, 0.01, 100), 0.01);
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
