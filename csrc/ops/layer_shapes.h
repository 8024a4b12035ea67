#pragma once

// The call of a layer, told without making its operands.

#include "ops/call.h"

namespace tunedops {

/// Rows of any rank are the rows of one matrix, the weight is transposed. The
/// words must be those of the product that linear.cpp makes where it has to.
inline CallShapes layer_shapes(const Product& layer) {
  const at::Tensor& input = layer.mat1;
  const at::Tensor& weight = layer.mat2;
  CallShapes shapes;
  if (input.dim() == 0 || input.numel() == 0 || weight.dim() != 2) {
    return shapes;
  }
  if (input.dim() == 2) {
    shapes.mat1 = CallMatrix::of(input);
  } else if (input.is_contiguous()) {
    shapes.mat1 = CallMatrix::rows_of(input);
  } else {
    return shapes;
  }
  shapes.are_there = true;
  shapes.mat2 = CallMatrix::of(weight).transposed();
  return shapes;
}

}  // namespace tunedops
