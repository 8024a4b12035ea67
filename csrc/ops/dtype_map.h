#pragma once

// Torch's element types and ours.

#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tuning/dtype.h"

namespace tunedops {

inline constexpr std::array<std::pair<c10::ScalarType, DType>, 6> kDTypes{{
    {c10::ScalarType::Float, DType::kFloat32},
    {c10::ScalarType::Double, DType::kFloat64},
    {c10::ScalarType::BFloat16, DType::kBFloat16},
    {c10::ScalarType::Half, DType::kFloat16},
    {c10::ScalarType::ComplexFloat, DType::kComplex64},
    {c10::ScalarType::ComplexDouble, DType::kComplex128},
}};

namespace dtype_map {

// Tables, since every call comes here.
inline constexpr std::size_t kTypes =
    static_cast<std::size_t>(c10::ScalarType::NumOptions);

template <class Value, class Of>
constexpr std::array<Value, kTypes> table(const Of& of) {
  std::array<Value, kTypes> values{};
  for (const auto& [torch_type, dtype] : kDTypes) {
    values[static_cast<std::size_t>(torch_type)] = of(dtype);
  }
  return values;
}

inline constexpr auto kOurs = table<DType>([](DType dtype) { return dtype; });
inline constexpr auto kBytes = table<std::uint8_t>(
    [](DType dtype) { return static_cast<std::uint8_t>(size_of(dtype)); });

}  // namespace dtype_map

/// kNone for a type that no kernel multiplies.
constexpr DType dtype_from(c10::ScalarType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < dtype_map::kTypes ? dtype_map::kOurs[index] : DType::kNone;
}

/// Of one element; 0 for a type that no kernel multiplies.
constexpr std::size_t element_bytes(c10::ScalarType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < dtype_map::kTypes ? dtype_map::kBytes[index] : 0;
}

constexpr c10::ScalarType scalar_type_of(DType dtype) {
  for (const auto& [torch_type, ours] : kDTypes) {
    if (ours == dtype) {
      return torch_type;
    }
  }
  return c10::ScalarType::Undefined;
}

}  // namespace tunedops
