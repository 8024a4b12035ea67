#pragma once

// Elements as C++ types, for loops over whole operands that cannot ask for the
// DType at each one, and the rule by which two elements agree. The same code on
// the host and (compiled by nvcc) on a GPU.

#include <bit>
#include <cmath>
#include <cstdint>

#include "tuning/dtype.h"

#ifdef __CUDACC__
#define TUNEDOPS_ON_DEVICE_TOO __host__ __device__
#else
#define TUNEDOPS_ON_DEVICE_TOO
#endif

namespace tunedops {

struct Half {
  std::uint16_t bits;
};

struct BFloat16 {
  std::uint16_t bits;
};

template <class Part>
struct alignas(2 * sizeof(Part)) ComplexElement {
  Part real;
  Part imaginary;
};

TUNEDOPS_ON_DEVICE_TOO inline double widen(double value) { return value; }
TUNEDOPS_ON_DEVICE_TOO inline double widen(float value) { return value; }

TUNEDOPS_ON_DEVICE_TOO inline double widen(BFloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

// Without subnormal floats in between, which a program may have switched off.
TUNEDOPS_ON_DEVICE_TOO inline double widen(Half value) {
  const std::uint32_t magnitude = (value.bits & 0x7fffU) << 13;
  const std::uint32_t exponent = value.bits & 0x7c00U;
  const std::uint32_t rebias = exponent == 0x7c00U ? 224U << 23 : 112U << 23;
  const float normal = std::bit_cast<float>(magnitude + rebias);
  const float subnormal =
      std::bit_cast<float>(magnitude + (113U << 23)) - 0x1p-14F;
  const float positive = exponent == 0 ? subnormal : normal;
  return (value.bits & 0x8000U) != 0 ? -positive : positive;
}

/// Equal, or both numbers and their difference is at most
/// `absolute + relative * |expected|`. NaN and infinity never agree.
template <class T>
TUNEDOPS_ON_DEVICE_TOO bool agrees(T value, T expected, double absolute,
                                   double relative) {
  const double target = widen(expected);
  const double error = std::fabs(widen(value) - target);
  const double limit = absolute + relative * std::fabs(target);
  return (error == 0) | ((error <= limit) & (error <= 0x1p1023));
}

template <class Part>
TUNEDOPS_ON_DEVICE_TOO bool agrees(ComplexElement<Part> value,
                                   ComplexElement<Part> expected,
                                   double absolute, double relative) {
  const auto length = [](double real, double imaginary) {
    return std::sqrt(real * real + imaginary * imaginary);
  };
  const double real = widen(expected.real);
  const double imaginary = widen(expected.imaginary);
  const double error =
      length(widen(value.real) - real, widen(value.imaginary) - imaginary);
  const double limit = absolute + relative * length(real, imaginary);
  return (error == 0) | ((error <= limit) & (error <= 0x1p1023));
}

/// Calls `call.template operator()<T>()` with the type of a DType that is not
/// kNone.
template <class Call>
auto with_element_type(DType dtype, const Call& call) {
  switch (dtype) {
  case DType::kFloat64:
    return call.template operator()<double>();
  case DType::kBFloat16:
    return call.template operator()<BFloat16>();
  case DType::kFloat16:
    return call.template operator()<Half>();
  case DType::kComplex64:
    return call.template operator()<ComplexElement<float>>();
  case DType::kComplex128:
    return call.template operator()<ComplexElement<double>>();
  case DType::kNone:
  case DType::kFloat32:
    break;
  }
  return call.template operator()<float>();
}

}  // namespace tunedops
