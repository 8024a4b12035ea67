#pragma once

// Views that are made past the dispatcher: of operands that only describe one
// (nothing may run on those), and where the dispatcher would take longer than a
// small product.

#include <ATen/TensorUtils.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace tunedops {

/// The same memory, from the same element on, in other sizes.
inline at::Tensor alias(const at::Tensor& tensor, at::IntArrayRef sizes,
                        at::IntArrayRef strides) {
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(),
      tensor.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides,
                                                    tensor.storage_offset());
  return view;
}

/// A vector as a matrix of one column.
inline at::Tensor as_column(const at::Tensor& vector) {
  return alias(vector, {vector.size(0), 1}, {vector.stride(0), 1});
}

/// Of a matrix.
inline at::Tensor transposed(const at::Tensor& matrix) {
  return alias(matrix, {matrix.size(1), matrix.size(0)},
               {matrix.stride(1), matrix.stride(0)});
}

/// A tensor of any rank from 1 on, and not empty, as the matrix of its rows;
/// nothing if torch has to copy it for that.
inline std::optional<at::Tensor> rows_of(const at::Tensor& tensor) {
  if (tensor.dim() == 2) {
    return tensor;
  }
  const std::int64_t columns = tensor.sizes().back();
  const c10::DimVector sizes{tensor.numel() / columns, columns};
  const auto strides =
      at::detail::computeStride(tensor.sizes(), tensor.strides(), sizes);
  if (!strides) {
    return std::nullopt;
  }
  return alias(tensor, sizes, *strides);
}

}  // namespace tunedops
