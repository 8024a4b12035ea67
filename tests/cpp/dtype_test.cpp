// Element types in files and in memory. The rounding of the small types is
// checked against every one of their values, because all numeric checks of
// kernels stand on it.

#include "tuning/dtype.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

constexpr DType kAll[] = {DType::kFloat32,   DType::kFloat64,
                          DType::kBFloat16,  DType::kFloat16,
                          DType::kComplex64, DType::kComplex128};

TEST(DType, SpellsTypesAsTunableOpDoes) {
  EXPECT_EQ(to_text(DType::kFloat32), "float");
  EXPECT_EQ(to_text(DType::kFloat64), "double");
  EXPECT_EQ(to_text(DType::kBFloat16), "BFloat16");
  EXPECT_EQ(to_text(DType::kFloat16), "Half");
  EXPECT_EQ(to_text(DType::kComplex64), "c10::complex<float>");
  EXPECT_EQ(to_text(DType::kComplex128), "c10::complex<double>");
  for (const DType dtype : kAll) {
    EXPECT_EQ(dtype_from_text(to_text(dtype)), dtype);
  }
}

TEST(DType, NoneAndUnknownNamesAreNoTypes) {
  for (const char* text : {"", "None", "Float", "float ", "float32", "half",
                           "tf32", "c10::complex<float"}) {
    EXPECT_EQ(dtype_from_text(text), std::nullopt) << text;
  }
  EXPECT_EQ(size_of(DType::kNone), 0U);
}

TEST(DType, SizesAndPrecisions) {
  EXPECT_EQ(size_of(DType::kFloat32), 4U);
  EXPECT_EQ(size_of(DType::kFloat64), 8U);
  EXPECT_EQ(size_of(DType::kBFloat16), 2U);
  EXPECT_EQ(size_of(DType::kFloat16), 2U);
  EXPECT_EQ(size_of(DType::kComplex64), 8U);
  EXPECT_EQ(size_of(DType::kComplex128), 16U);
  EXPECT_EQ(epsilon_of(DType::kFloat32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon_of(DType::kFloat64),
            std::numeric_limits<double>::epsilon());
  // The next number after one, seen by storing.
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    std::uint16_t bits = 0;
    store_element(dtype, &bits, 0, 1.0);
    ++bits;
    EXPECT_EQ(load_element(dtype, &bits, 0).real(), 1.0 + epsilon_of(dtype));
  }
}

TEST(DType, StoresAndLoadsByIndex) {
  for (const DType dtype : kAll) {
    alignas(16) char memory[3 * 16] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      store_element(dtype, memory, i, 1.5 - static_cast<double>(i));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(load_element(dtype, memory, i).real(),
                1.5 - static_cast<double>(i))
          << to_text(dtype);
    }
  }
}

// A conjugation that is forgotten must show in data for tuning.
TEST(DType, StoredComplexNumbersHaveAnImaginaryPart) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    alignas(16) char memory[16] = {};
    store_element(dtype, memory, 0, -2.0);
    EXPECT_EQ(load_element(dtype, memory, 0), std::complex<double>(-2.0, 0.5));
  }
}

TEST(DType, LoadsAtAnyAlignment) {
  for (const DType dtype : kAll) {
    char memory[17 + 1] = {};
    store_element(dtype, memory + 1, 0, 0.25);
    EXPECT_EQ(load_element(dtype, memory + 1, 0).real(), 0.25);
  }
}

TEST(DType, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) == 0x7c00) {
      continue;  // infinities and NaN
    }
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = load_element(DType::kFloat16, &half, 0).real();
    std::uint16_t again = 0;
    store_element(DType::kFloat16, &again, 0, value);
    ASSERT_EQ(again, half) << value;
  }
}

TEST(DType, EveryBFloat16SurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7f80) == 0x7f80) {
      continue;
    }
    const auto bf16 = static_cast<std::uint16_t>(bits);
    const double value = load_element(DType::kBFloat16, &bf16, 0).real();
    std::uint16_t again = 0;
    store_element(DType::kBFloat16, &again, 0, value);
    ASSERT_EQ(again, bf16) << value;
  }
}

// Between each two neighbours: a little below the middle goes down, a little
// above it up, the middle itself to the even one.
TEST(DType, RoundsToTheNearestAndTiesToEven) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    // Of numbers from 2^-24 on, which both types tell apart from zero.
    for (std::uint16_t low = 0x3400; low < 0x4400; ++low) {
      const auto high = static_cast<std::uint16_t>(low + 1);
      const double below = load_element(dtype, &low, 0).real();
      const double above = load_element(dtype, &high, 0).real();
      const double middle = (below + above) / 2;
      const double little = (above - below) / 64;
      std::uint16_t stored = 0;
      store_element(dtype, &stored, 0, middle - little);
      ASSERT_EQ(stored, low) << to_text(dtype);
      store_element(dtype, &stored, 0, middle + little);
      ASSERT_EQ(stored, high) << to_text(dtype);
      store_element(dtype, &stored, 0, middle);
      ASSERT_EQ(stored, low % 2 == 0 ? low : high) << to_text(dtype);
    }
  }
}

TEST(DType, LoadsSpecialValues) {
  const std::uint16_t half_infinity = 0x7c00;
  const std::uint16_t half_nan = 0xfe00;
  const std::uint16_t half_denormal = 1;
  const std::uint16_t bf16_infinity = 0xff80;
  EXPECT_EQ(load_element(DType::kFloat16, &half_infinity, 0).real(), INFINITY);
  EXPECT_TRUE(std::isnan(load_element(DType::kFloat16, &half_nan, 0).real()));
  EXPECT_EQ(load_element(DType::kFloat16, &half_denormal, 0).real(), 0x1p-24);
  EXPECT_EQ(load_element(DType::kBFloat16, &bf16_infinity, 0).real(),
            -INFINITY);
}

// Buffers for tuning are poisoned with this byte: in every type it must be
// something that no right answer is.
TEST(DType, BytesOfOnesAreNanInEveryType) {
  char poison[16];
  std::memset(poison, 0xff, sizeof(poison));
  for (const DType dtype : kAll) {
    EXPECT_TRUE(std::isnan(load_element(dtype, poison, 0).real()))
        << to_text(dtype);
  }
}

}  // namespace
}  // namespace tunedops
