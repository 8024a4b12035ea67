#pragma once

// Torch's element types and ours.

#include <c10/core/ScalarType.h>

#include <array>
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

/// kNone for a type that no kernel multiplies.
constexpr DType dtype_from(c10::ScalarType type) {
  // A table, since every call comes here.
  constexpr auto kTable = [] {
    std::array<DType, static_cast<std::size_t>(c10::ScalarType::NumOptions)>
        table{};
    for (const auto& [torch_type, dtype] : kDTypes) {
      table[static_cast<std::size_t>(torch_type)] = dtype;
    }
    return table;
  }();
  const auto index = static_cast<std::size_t>(type);
  return index < kTable.size() ? kTable[index] : DType::kNone;
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
