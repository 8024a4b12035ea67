// Division by multiplication: against the division of the processor, where
// results change and at the ends of what is promised.

#include "kernels/gemm/cuda/divisor.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

void expect_divides(int divisor) {
  const Divisor by(divisor);
  const auto expect_at = [&](std::int64_t number) {
    if (number >= 0 && number <= kMost) {
      EXPECT_EQ(by.divide(static_cast<int>(number)), number / divisor)
          << number << " / " << divisor;
    }
  };
  for (const std::int64_t multiple :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
        std::int64_t{kMost / divisor / 2}, std::int64_t{kMost / divisor}}) {
    for (const int more : {-1, 0, 1}) {
      expect_at(multiple * divisor + more);
    }
  }
  expect_at(kMost);
}

TEST(Divisor, IsExactForEveryNumberOfAnInt) {
  for (int divisor = 1; divisor <= 5000; ++divisor) {
    expect_divides(divisor);
  }
  for (int bit = 1; bit < 31; ++bit) {
    for (const int more : {-1, 0, 1}) {
      expect_divides((1 << bit) + more);
    }
  }
  expect_divides(kMost);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    expect_divides(static_cast<int>(random() % kMost) + 1);
  }
}

TEST(Divisor, IsThatOfOneIfNothingIsSaid) {
  EXPECT_EQ(Divisor().divide(kMost), kMost);
}

}  // namespace
}  // namespace tunedops::cuda
