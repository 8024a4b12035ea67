#pragma once

// IEEE's 16-bit floats in plain arithmetic, for processors whose instructions
// nobody knows. Exact, and rounded to nearest, ties to even.

#include "kernels/gemm/cpu/skinny_product.h"

#include <cstdint>
#include <cstring>

namespace tunedops::cpu {
namespace {

inline float float_of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

inline float to_float(Half half) {
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t size = half.bits & 0x7fffU;
  if (size >= 0x7c00) {  // infinity, or NaN, made quiet
    const std::uint32_t quiet = size > 0x7c00 ? 0x400000 : 0;
    return float_of_bits(sign | 0x7f800000 | (size & 0x3ff) << 13 | quiet);
  }
  if (size < 0x400) {  // a multiple of 2^-24
    const float value = static_cast<float>(size) * 0x1p-24F;
    return float_of_bits(sign | bits_of(value));
  }
  return float_of_bits(sign | ((size << 13) + (112U << 23)));
}

inline Half to_half(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t size = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (size > 0x7f800000) {
    half = 0x7e00 | (size >> 13 & 0x3ff);
  } else if (size >= 0x477ff000) {  // 65520: infinity is nearer
    half = 0x7c00;
  } else if (size < 0x38800000) {
    // Below 2^-14 halves are multiples of 2^-24, as floats from 0.5 on are.
    half = bits_of(float_of_bits(size) + 0.5F) - bits_of(0.5F);
  } else {
    half = (size + 0xfff + (size >> 13 & 1) - (112U << 23)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace
}  // namespace tunedops::cpu
