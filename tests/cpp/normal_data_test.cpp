// The numbers to tune on: normal, unrelated between operands and between rows,
// and the same everywhere and always, since a GPU writes what a reference on
// the host computes with.

#include "tuning/normal_data.h"

#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tuning/elements.h"

namespace tunedops {
namespace {

constexpr DType kAll[] = {DType::kFloat32,   DType::kFloat64,
                          DType::kBFloat16,  DType::kFloat16,
                          DType::kComplex64, DType::kComplex128};

double number(std::uint64_t seed, std::int64_t index) {
  return Elements::generated(DType::kFloat64, seed).at(index).real();
}

// The mean of a product over `count` places; its standard deviation is
// 1 / sqrt(count) if the factors are unrelated.
double correlation(std::int64_t count,
                   const std::function<double(std::int64_t)>& left,
                   const std::function<double(std::int64_t)>& right) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += left(i) * right(i);
  }
  return sum / static_cast<double>(count);
}

// Written down, so that neither the hash nor the table can change unnoticed
// (a device may have another copy of either).
TEST(NormalData, GoldenValues) {
  EXPECT_EQ(normal_hash(1, 0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(normal_index(1, 0), 3503U);
  EXPECT_EQ(normal_index(1, 1), 15133U);
  EXPECT_EQ(normal_index(1, 2), 10297U);
  EXPECT_EQ(normal_index(1, 3), 8736U);
  EXPECT_EQ(normal_index(1, 4), 7361U);
  EXPECT_EQ(normal_index(2, 0), 9716U);
  EXPECT_EQ(normal_index(3, (std::int64_t{1} << 40) + 3), 1946U);
  EXPECT_NEAR(number(1, 0), 0.96108244408511023, 1e-12);
  EXPECT_NEAR(number(2, 0), 0.80671715850201176, 1e-12);
  EXPECT_NEAR(normal_values(DType::kFloat64)[kNormals - 1].real(),
              0.33643286083977753, 1e-12);
}

TEST(NormalData, AnElementIsAFunctionOfSeedAndIndex) {
  for (const std::int64_t index :
       {std::int64_t{0}, std::int64_t{5}, std::int64_t{1} << 31,
        (std::int64_t{1} << 40) + 3}) {
    EXPECT_EQ(number(3, index), number(3, index));
    EXPECT_EQ(normal_values(DType::kFloat64)[normal_index(3, index)],
              number(3, index));
  }
  // Where an index of 32 bits would begin again.
  int equal = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    equal += number(1, i) == number(1, i + (std::int64_t{1} << 32)) ? 1 : 0;
  }
  EXPECT_LT(equal, 5);
}

TEST(NormalData, NumbersAreStandardNormal) {
  constexpr int kCount = 200000;
  double moments[5] = {};
  std::set<double> distinct;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double x = number(1, i);
    distinct.insert(x);
    for (int m = 1; m <= 4; ++m) {
      moments[m] += std::pow(x, m) / kCount;
    }
  }
  EXPECT_NEAR(moments[1], 0, 0.03);
  EXPECT_NEAR(moments[2], 1, 0.03);
  EXPECT_NEAR(moments[3], 0, 0.1);
  EXPECT_NEAR(moments[4], 3, 0.2);
  EXPECT_GT(distinct.size(), kNormals * 9 / 10) << "all of the table is used";
}

TEST(NormalData, OperandsAreUnrelated) {
  constexpr std::int64_t kCount = 40000;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (std::uint64_t other = seed + 1; other <= 5; ++other) {
      for (const std::int64_t shift : {0, 1, 2, 3, 4, 64, 4096}) {
        EXPECT_NEAR(correlation(
                        kCount, [=](auto i) { return number(seed, i); },
                        [=](auto i) { return number(other, i + shift); }),
                    0, 5 / std::sqrt(kCount))
            << seed << ' ' << other << ' ' << shift;
      }
    }
  }
}

// Rows of every distance, and their columns.
TEST(NormalData, RowsAreUnrelated) {
  constexpr std::int64_t kCount = 40000;
  for (const std::int64_t distance :
       {1, 2, 3, 4, 5, 7, 8, 16, 64, 100, 1024, 4096, 16384, 65536}) {
    EXPECT_NEAR(correlation(
                    kCount, [=](auto i) { return number(1, i); },
                    [=](auto i) { return number(1, i + distance); }),
                0, 5 / std::sqrt(kCount))
        << distance;
    EXPECT_NEAR(correlation(
                    kCount, [=](auto i) { return number(1, i * distance); },
                    [=](auto i) { return number(2, i * distance + 1); }),
                0, 5 / std::sqrt(kCount))
        << distance;
  }
}

TEST(NormalData, EachTypeHasTheSameNumbersRounded) {
  for (const DType dtype : kAll) {
    ASSERT_EQ(normal_table(dtype).size(), kNormals * size_of(dtype));
    ASSERT_EQ(normal_values(dtype).size(), kNormals);
    for (std::size_t i = 0; i < kNormals; ++i) {
      const double exact = normal_values(DType::kFloat64)[i].real();
      const std::complex<double> value = normal_values(dtype)[i];
      ASSERT_EQ(value, load_element(dtype, normal_table(dtype).data(), i));
      ASSERT_NEAR(value.real(), exact,
                  epsilon_of(dtype) * std::abs(exact) + 1e-7);
    }
  }
}

// A conjugation that is forgotten must show, and one part taken for the other.
TEST(NormalData, ComplexNumbersHaveUnrelatedParts) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    const auto values = normal_values(dtype);
    EXPECT_NEAR(
        correlation(
            kNormals / 2,
            [=](auto i) { return values[static_cast<std::size_t>(i)].real(); },
            [=](auto i) { return values[static_cast<std::size_t>(i)].imag(); }),
        0, 5 / std::sqrt(kNormals / 2));
    EXPECT_NEAR(
        correlation(
            kNormals,
            [=](auto i) { return values[static_cast<std::size_t>(i)].imag(); },
            [=](auto i) { return values[static_cast<std::size_t>(i)].imag(); }),
        1, 0.05);
  }
}

TEST(Elements, ReadsArraysToo) {
  const float data[] = {1.5F, -2};
  const Elements elements = Elements::in_memory(DType::kFloat32, data);
  EXPECT_EQ(elements.dtype(), DType::kFloat32);
  EXPECT_EQ(elements.at(1), -2.0);
  EXPECT_EQ(Elements().dtype(), DType::kNone);
}

}  // namespace
}  // namespace tunedops
