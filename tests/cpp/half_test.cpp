// Halves in plain arithmetic: all of them, and floats between any two.

#include "kernels/gemm/cpu/half.h"

#include "cpu_products.h"

namespace tunedops::cpu {
namespace {

TEST(Half, EachIsItsValue) {
  for (int i = 0; i < 1 << 16; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = to_float(Half{bits});
    if (std::isnan(half_value(bits))) {
      EXPECT_TRUE(std::isnan(value)) << i;
      EXPECT_TRUE(std::isnan(half_value(to_half(value).bits))) << i;
    } else {
      EXPECT_EQ(bits_of(value), bits_of(half_value(bits))) << i;
      EXPECT_EQ(to_half(value).bits, bits) << i;
    }
  }
}

TEST(Half, FloatsAreRoundedToTheNearest) {
  for (int i = 0; i < 0x7c00; ++i) {
    const float low = half_value(static_cast<std::uint16_t>(i));
    const float high =
        i == 0x7bff ? 65536 : half_value(static_cast<std::uint16_t>(i + 1));
    const float middle = (low + high) / 2;
    for (const float x :
         {std::nextafter(low, high), middle, std::nextafter(middle, low),
          std::nextafter(middle, high), std::nextafter(high, low)}) {
      EXPECT_EQ(to_half(x).bits, half_bits(x)) << x;
      EXPECT_EQ(to_half(-x).bits, half_bits(-x)) << x;
    }
  }
  for (const float x : {65519.99F, 65520.0F, 1e10F, 3.4e38F, 1e-30F, 1e-45F}) {
    EXPECT_EQ(to_half(x).bits, half_bits(x)) << x;
  }
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

}  // namespace
}  // namespace tunedops::cpu
