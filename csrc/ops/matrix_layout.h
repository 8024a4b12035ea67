#pragma once

// How a matrix lies in memory, as BLAS needs to know it: which dimension is
// consecutive and how far apart its runs are.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

namespace tunedops {

struct MatrixLayout {
  bool row_major = true;  // rows are consecutive; else columns are
  std::int64_t ld = 0;    // elements between two runs
  std::int64_t batch_stride = 0;
  // No dimension is consecutive (or values need resolving): a plan wants a
  // contiguous copy, which the rest of this struct describes.
  bool needs_copy = false;
};

/// Layout of the last two dimensions; a leading one is the batch. Strides of
/// dimensions of size 1 mean nothing and are replaced by what is tightest, so
/// that equal problems have equal keys.
inline MatrixLayout layout_of(const at::Tensor& tensor) {
  const auto dims = tensor.dim();
  const std::int64_t rows = tensor.size(dims - 2);
  const std::int64_t columns = tensor.size(dims - 1);
  const std::int64_t row_stride = tensor.stride(dims - 2);
  const std::int64_t column_stride = tensor.stride(dims - 1);
  const bool rows_run = columns == 1 || column_stride == 1;
  const bool columns_run = rows == 1 || row_stride == 1;

  MatrixLayout layout;
  if (rows_run && (rows == 1 || row_stride == columns)) {
    layout.ld = columns;
  } else if (columns_run && (columns == 1 || column_stride >= rows)) {
    layout.row_major = false;
    layout.ld = columns == 1 ? rows : column_stride;
  } else if (rows_run && row_stride >= columns) {
    layout.ld = row_stride;
  } else {
    layout.needs_copy = true;
    layout.ld = columns;
  }
  layout.needs_copy = layout.needs_copy || tensor.is_neg();
  if (layout.needs_copy) {
    layout.row_major = true;
    layout.ld = columns;
  }
  const std::int64_t packed = layout.ld * (layout.row_major ? rows : columns);
  const bool batched = dims == 3 && tensor.size(0) > 1;
  layout.batch_stride =
      batched && !layout.needs_copy ? tensor.stride(0) : packed;
  return layout;
}

/// The largest power of two up to 16 that divides the base address.
inline std::uint8_t alignment_of(const at::Tensor& tensor) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
  const auto lowest_bit = address & (~address + 1);
  return static_cast<std::uint8_t>(
      address == 0 ? 16 : std::min<std::uintptr_t>(lowest_bit, 16));
}

}  // namespace tunedops
