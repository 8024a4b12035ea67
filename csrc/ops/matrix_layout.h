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
/// that equal problems have equal keys. On the way of every call: sizes and
/// strides are read once.
inline MatrixLayout layout_of(const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes();
  const std::size_t dims = sizes.size();
  const std::int64_t* const size = sizes.data() + (dims - 2);
  const std::int64_t* const stride = tensor.strides().data() + (dims - 2);
  const std::int64_t rows = size[0];
  const std::int64_t columns = size[1];
  const bool rows_run = columns == 1 || stride[1] == 1;
  const bool columns_run = rows == 1 || stride[0] == 1;

  MatrixLayout layout;
  if (rows_run && (rows == 1 || stride[0] == columns)) {
    layout.ld = columns;
  } else if (columns_run && (columns == 1 || stride[1] >= rows)) {
    layout.row_major = false;
    layout.ld = columns == 1 ? rows : stride[1];
  } else if (rows_run && stride[0] >= columns) {
    layout.ld = stride[0];
  } else {
    layout.needs_copy = true;
  }
  if (layout.needs_copy || tensor.is_neg()) [[unlikely]] {
    layout.needs_copy = true;
    layout.row_major = true;
    layout.ld = columns;
  }
  const bool batched = dims == 3 && size[-1] > 1 && !layout.needs_copy;
  layout.batch_stride =
      batched ? stride[-1] : layout.ld * (layout.row_major ? rows : columns);
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
