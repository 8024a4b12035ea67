#pragma once

// The standard-normal numbers that operands are filled with for tuning. There
// is one table of them, rounded to each type here and nowhere else: devices get
// a copy of it, so that what they write and what references compute with are
// the same bits.

#include <complex>
#include <cstddef>
#include <span>

#include "tuning/dtype.h"
#include "tuning/normal_index.h"

namespace tunedops {

/// The table as `kNormals` elements of a type; made once and kept.
std::span<const std::byte> normal_table(DType dtype);

/// The same numbers, widened.
std::span<const std::complex<double>> normal_values(DType dtype);

}  // namespace tunedops
