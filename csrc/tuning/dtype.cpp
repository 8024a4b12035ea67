#include "tuning/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace tunedops {
namespace {

struct Entry {
  DType dtype;
  std::string_view text;
  double epsilon;
};

constexpr std::array<Entry, kDTypeCount> kEntries{{
    {DType::kNone, "None", 0.0},
    {DType::kFloat32, "float", 0x1p-23},
    {DType::kFloat64, "double", 0x1p-52},
    {DType::kBFloat16, "BFloat16", 0x1p-7},
    {DType::kFloat16, "Half", 0x1p-10},
    {DType::kComplex64, "c10::complex<float>", 0x1p-23},
    {DType::kComplex128, "c10::complex<double>", 0x1p-52},
}};

const Entry& entry(DType dtype) {
  return kEntries[static_cast<std::size_t>(dtype)];
}

template <class T>
T load(const void* data, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <class T>
void store(void* data, std::size_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * sizeof(T), &value, sizeof(T));
}

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Data for tuning only ever holds values well inside the range of every type,
// so rounding is to nearest without treatment of overflow to infinity.
std::uint16_t double_to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude < 0x1p-25) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto mantissa =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
  const int biased = unit + 24;
  return static_cast<std::uint16_t>(sign | ((biased << 10) + mantissa));
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

std::string_view to_text(DType dtype) { return entry(dtype).text; }
double epsilon_of(DType dtype) { return entry(dtype).epsilon; }

std::optional<DType> dtype_from_text(std::string_view text) {
  for (const Entry& e : kEntries) {
    if (e.text == text && e.dtype != DType::kNone) {
      return e.dtype;
    }
  }
  return std::nullopt;
}

std::complex<double> load_element(DType dtype, const void* data,
                                  std::size_t index) {
  switch (dtype) {
  case DType::kFloat32:
    return load<float>(data, index);
  case DType::kFloat64:
    return load<double>(data, index);
  case DType::kBFloat16:
    return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(data, index)}
                                << 16);
  case DType::kFloat16:
    return half_to_double(load<std::uint16_t>(data, index));
  case DType::kComplex64:
    return std::complex<double>(load<std::complex<float>>(data, index));
  case DType::kComplex128:
    return load<std::complex<double>>(data, index);
  case DType::kNone:
    break;
  }
  return 0.0;
}

void store_element(DType dtype, void* data, std::size_t index, double value) {
  switch (dtype) {
  case DType::kFloat32:
    return store(data, index, static_cast<float>(value));
  case DType::kFloat64:
    return store(data, index, value);
  case DType::kBFloat16:
    return store(data, index, float_to_bfloat16(static_cast<float>(value)));
  case DType::kFloat16:
    return store(data, index, double_to_half(value));
  case DType::kComplex64:
    return store(data, index,
                 std::complex<float>(static_cast<float>(value), 0.5F));
  case DType::kComplex128:
    return store(data, index, std::complex<double>(value, 0.5));
  case DType::kNone:
    break;
  }
}

}  // namespace tunedops
