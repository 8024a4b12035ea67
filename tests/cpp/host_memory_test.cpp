// Filling and inspecting operands in host memory, in every type, layout and
// alignment: compared with plain loops over single elements.

#include "tuning/host_memory.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "layouts.h"
#include "tuning/elements.h"
#include "tuning/operand_layout.h"

namespace tunedops {
namespace {

constexpr DType kAll[] = {DType::kFloat32,   DType::kFloat64,
                          DType::kBFloat16,  DType::kFloat16,
                          DType::kComplex64, DType::kComplex128};

constexpr std::size_t kGuard = 37;  // aligned for nothing

// Poisoned memory with room for an operand between guards.
class Region {
 public:
  explicit Region(const Operand& operand)
      : bytes_(operand.bytes() + 2 * kGuard) {
    EXPECT_TRUE(memory.poison(bytes_.data(), bytes_.size()).is_ok());
  }

  std::byte* base() { return bytes_.data() + kGuard; }
  std::byte* begin() { return bytes_.data(); }
  std::byte* end() { return bytes_.data() + bytes_.size(); }

  bool has_stray_write(const Operand& operand) {
    bool found = false;
    EXPECT_TRUE(memory.find_stray_write(operand, base(), begin(), end(), found)
                    .is_ok());
    return found;
  }

  HostMemory memory;

 private:
  std::vector<std::byte> bytes_;
};

std::optional<std::int64_t> difference(const Operand& operand, Region& region,
                                       Region& expected,
                                       Tolerance tolerance = {}) {
  std::optional<std::int64_t> index;
  EXPECT_TRUE(region.memory
                  .find_difference(operand, region.base(), expected.base(),
                                   tolerance, index)
                  .is_ok());
  return index;
}

TEST(HostMemory, ClearsTheseBytesAndNoOthers) {
  HostMemory memory;
  std::vector<std::byte> bytes(64, kPoison);
  ASSERT_TRUE(memory.clear(bytes.data() + 3, 29).is_ok());
  ASSERT_TRUE(memory.clear(bytes.data() + 50, 0).is_ok());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], i >= 3 && i < 32 ? std::byte{0} : kPoison) << i;
  }
}

TEST(HostMemory, WritesTheElementsAndNothingElse) {
  for (const DType dtype : kAll) {
    for (const Operand& operand : layouts(dtype)) {
      Region region(operand);
      ASSERT_TRUE(
          region.memory.write_normals(operand, region.base(), 9).is_ok());
      const Elements elements = Elements::generated(dtype, 9);
      for (std::int64_t b = 0; b < operand.batch; ++b) {
        for (std::int64_t o = 0; o < operand.outer; ++o) {
          for (std::int64_t i = 0; i < operand.inner; ++i) {
            const std::int64_t at = operand.offset(b, o, i);
            ASSERT_EQ(load_element(dtype, region.base(),
                                   static_cast<std::size_t>(at)),
                      elements.at(at));
          }
        }
      }
      EXPECT_FALSE(region.has_stray_write(operand));
    }
  }
}

TEST(HostMemory, FindsEveryStrayByte) {
  for (const Operand& operand : layouts()) {
    Region region(operand);
    ASSERT_TRUE(region.memory.write_normals(operand, region.base(), 1).is_ok());
    std::vector<bool> is_element(operand.bytes() + 2 * kGuard);
    const Runs runs = element_runs(operand);
    for (std::int64_t run = 0; run < runs.count(); ++run) {
      for (std::int64_t i = 0; i < 2 * runs.length; ++i) {
        is_element[kGuard + static_cast<std::size_t>(2 * runs.start(run) + i)] =
            true;
      }
    }
    for (std::byte* at = region.begin(); at != region.end(); ++at) {
      const std::byte before = *at;
      *at ^= std::byte{4};
      EXPECT_EQ(region.has_stray_write(operand),
                !is_element[static_cast<std::size_t>(at - region.begin())]);
      *at = before;
    }
  }
}

TEST(HostMemory, GathersInTheOrderOfTheIndices) {
  for (const DType dtype : kAll) {
    const Operand operand = layout(33, 6, 40, 1, 0, dtype);
    Region region(operand);
    ASSERT_TRUE(region.memory.write_normals(operand, region.base(), 2).is_ok());
    const std::int64_t indices[] = {232, 0, 41, 0};
    std::complex<double> values[4];
    ASSERT_TRUE(
        region.memory.gather(operand, region.base(), indices, values).is_ok());
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(values[i], Elements::generated(dtype, 2).at(indices[i]));
    }
  }
}

TEST(HostMemory, FindsTheFirstDifference) {
  for (const DType dtype : kAll) {
    for (const Operand& operand : layouts(dtype)) {
      Region region(operand);
      Region expected(operand);
      for (Region* r : {&region, &expected}) {
        ASSERT_TRUE(r->memory.write_normals(operand, r->base(), 3).is_ok());
      }
      EXPECT_EQ(difference(operand, region, expected), std::nullopt)
          << "gaps are NaN, and no elements";
      const auto last = static_cast<std::size_t>(operand.extent() - 1);
      const auto first = static_cast<std::size_t>(operand.inner / 2);
      store_element(dtype, region.base(), last, 100);
      EXPECT_EQ(difference(operand, region, expected), last);
      store_element(dtype, region.base(), first, 100);
      EXPECT_EQ(difference(operand, region, expected), first);
      EXPECT_EQ(difference(operand, region, expected, {.absolute = 200}),
                std::nullopt);
    }
  }
}

class Agreement : public testing::TestWithParam<DType> {
 protected:
  bool agree(double value, double expected, Tolerance tolerance) {
    const Operand one = layout(1, 1, 1, 1, 0, GetParam());
    Region region(one);
    Region target(one);
    store(region.base(), value);
    store(target.base(), expected);
    return difference(one, region, target, tolerance) == std::nullopt;
  }

 private:
  // As store_element, which does not do infinity.
  static void store(std::byte* place, double value) {
    if (GetParam() == DType::kFloat16 && !std::isfinite(value)) {
      const std::uint16_t bits =
          std::isnan(value) ? 0x7e00 : (value < 0 ? 0xfc00 : 0x7c00);
      std::memcpy(place, &bits, sizeof(bits));
    } else if (GetParam() == DType::kBFloat16 && std::isnan(value)) {
      std::memset(place, 0xff, 2);
    } else {
      store_element(GetParam(), place, 0, value);
    }
  }
};

TEST_P(Agreement, IsWithinTheTolerance) {
  EXPECT_TRUE(agree(2, 2, {}));
  EXPECT_TRUE(agree(-0.0, 0.0, {}));
  EXPECT_FALSE(agree(2.5, 2, {}));
  EXPECT_TRUE(agree(2.5, 2, {.absolute = 0.5}));
  EXPECT_TRUE(agree(1.5, 2, {.absolute = 0.5}));
  EXPECT_FALSE(agree(2.5, 2, {.absolute = 0.49}));
  EXPECT_TRUE(agree(-2.5, -2, {.relative = 0.26}));
  EXPECT_FALSE(agree(-2, 2, {.relative = 0.26}));
  EXPECT_TRUE(agree(2.5, 2, {.absolute = 0.25, .relative = 0.125}));
}

TEST_P(Agreement, NanAndInfinityNeverAgree) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tolerance wide{.absolute = 1e300, .relative = 10};
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    EXPECT_FALSE(agree(bad, 1, wide));
    EXPECT_FALSE(agree(1, bad, wide));
    EXPECT_FALSE(agree(bad, bad, wide));
    EXPECT_FALSE(agree(bad, 1, {.absolute = kInfinity}));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, Agreement, testing::ValuesIn(kAll));

TEST(HostMemory, ReadsEveryHalfAndBFloat16AsReferencesDo) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Operand one = layout(1, 1, 1, 1, 0, dtype);
    Region region(one);
    Region zero(one);
    store_element(dtype, zero.base(), 0, 0.0);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(region.base(), &half, sizeof(half));
      const double size = std::abs(load_element(dtype, &half, 0).real());
      if (!std::isfinite(size)) {
        ASSERT_TRUE(difference(one, region, zero, {.absolute = 1e300}));
      } else if (size > 0) {
        ASSERT_FALSE(difference(one, region, zero, {.absolute = size}));
        ASSERT_TRUE(difference(one, region, zero,
                               {.absolute = std::nextafter(size, 0.0)}));
      }
    }
  }
}

}  // namespace
}  // namespace tunedops
