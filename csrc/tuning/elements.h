#pragma once

// The elements of an operand as a reference reads them: from an array in host
// memory, or computed from the seed that the operand was filled with, wherever
// that memory is.

#include <complex>
#include <cstdint>

#include "tuning/dtype.h"
#include "tuning/normal_data.h"

namespace tunedops {

class Elements {
 public:
  /// Of an operand that is absent; must not be read.
  Elements() = default;

  static Elements in_memory(DType dtype, const void* data) {
    Elements elements;
    elements.dtype_ = dtype;
    elements.data_ = data;
    return elements;
  }

  static Elements generated(DType dtype, std::uint64_t seed) {
    Elements elements;
    elements.dtype_ = dtype;
    elements.normals_ = normal_values(dtype).data();
    elements.seed_ = seed;
    return elements;
  }

  DType dtype() const { return dtype_; }

  std::complex<double> at(std::int64_t index) const {
    return normals_ != nullptr
               ? normals_[normal_index(seed_, index)]
               : load_element(dtype_, data_, static_cast<std::size_t>(index));
  }

 private:
  DType dtype_ = DType::kNone;
  const void* data_ = nullptr;
  const std::complex<double>* normals_ = nullptr;
  std::uint64_t seed_ = 0;
};

}  // namespace tunedops
