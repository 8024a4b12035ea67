#pragma once

// Element types as problem keys and files know them. The spelling is
// TunableOp's, because people and PyTorch read it in results files.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tuning/visibility.h"

namespace tunedops {

enum class DType : std::uint8_t {
  kNone = 0,  // the operand is absent
  kFloat32,
  kFloat64,
  kBFloat16,
  kFloat16,
  kComplex64,
  kComplex128,
};

inline constexpr std::size_t kDTypeCount = 7;  // kNone among them

/// Bytes of one element; 0 for `kNone`.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
  case DType::kNone:
    return 0;
  case DType::kBFloat16:
  case DType::kFloat16:
    return 2;
  case DType::kFloat32:
    return 4;
  case DType::kFloat64:
  case DType::kComplex64:
    return 8;
  case DType::kComplex128:
    return 16;
  }
  return 0;
}

/// Whether so many elements are a multiple of so many bytes.
constexpr bool is_multiple_of(int bytes, std::int64_t elements, DType dtype) {
  return elements % (bytes / static_cast<std::int64_t>(size_of(dtype))) == 0;
}

constexpr bool is_complex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

/// `float`, `double`, `BFloat16`, `Half`, `c10::complex<float>`, …
TUNEDOPS_PUBLIC std::string_view to_text(DType dtype);
TUNEDOPS_PUBLIC std::optional<DType> dtype_from_text(std::string_view text);

/// Distance between 1 and the next representable number.
TUNEDOPS_PUBLIC double epsilon_of(DType dtype);

/// Element `index` of an array in host memory, widened without loss.
TUNEDOPS_PUBLIC std::complex<double> load_element(DType dtype, const void* data,
                                                  std::size_t index);
TUNEDOPS_PUBLIC void store_element(DType dtype, void* data, std::size_t index,
                                   double value);

}  // namespace tunedops
