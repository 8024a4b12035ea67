// A program whose shapes keep changing must stop tuning by itself, for good or
// for the family of problems that grows.

#include "tuning/pace.h"

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

std::vector<ProblemKey> families(std::int64_t m, std::int64_t n,
                                 std::int64_t k) {
  return gemm_op().definition.families(to_key(gemm_problem(m, n, k)));
}

TEST(Pace, StopsWhenTheTotalIsSpent) {
  Pace pace;
  EXPECT_TRUE(pace.allows(families(1, 1, 1), 100, 32));
  pace.spend(families(1, 1, 1), 60);
  EXPECT_TRUE(pace.allows(families(2, 2, 2), 100, 32));
  pace.spend(families(2, 2, 2), 40);
  EXPECT_FALSE(pace.allows(families(3, 3, 3), 100, 32));
  EXPECT_TRUE(pace.allows(families(3, 3, 3), 101, 32));
}

TEST(Pace, StopsAFamilyThatGrowsInOneDimension) {
  Pace pace;
  for (std::int64_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(pace.allows(families(64, n, 64), 1e9, 3)) << n;
    pace.spend(families(64, n, 64), 1);
  }
  EXPECT_FALSE(pace.allows(families(64, 4, 64), 1e9, 3));
  EXPECT_TRUE(pace.allows(families(64, 4, 64), 1e9, 4));
  // Another layer of the program is another family.
  EXPECT_TRUE(pace.allows(families(128, 4, 64), 1e9, 3));
}

TEST(Pace, ProblemsThatDifferInTwoDimensionsAreNoFamily) {
  Pace pace;
  for (std::int64_t size = 1; size <= 10; ++size) {
    ASSERT_TRUE(pace.allows(families(size, size, 64), 1e9, 1)) << size;
    pace.spend(families(size, size, 64), 1);
  }
}

TEST(Pace, ZeroMeansNever) {
  EXPECT_FALSE(Pace().allows(families(1, 1, 1), 0, 32));
  EXPECT_FALSE(Pace().allows(families(1, 1, 1), 1e9, 0));
}

}  // namespace
}  // namespace tunedops
