#pragma once

// Tells Hopper's copy engine how a matrix lies in memory. The driver encodes
// it; its function is asked for by name, so that nothing links to the driver
// and a machine without one can import us.

#include <cuda.h>

#include <cstdint>

#include "tuning/dtype.h"
#include "tuning/status.h"

namespace tunedops::cuda {

/// Matrices of 2-byte elements whose lines are contiguous, copied in boxes of
/// `box_length` elements by `box_lines`; what is outside comes as zeros.
struct TensorView {
  const void* base = nullptr;  // a multiple of 16 bytes
  DType dtype = DType::kBFloat16;
  std::int64_t length = 0;  // of a line, in elements
  std::int64_t lines = 0;
  std::int64_t line_stride = 0;  // in elements, a multiple of 16 bytes
  std::int64_t matrices = 1;
  std::int64_t matrix_stride = 0;
  int box_length = 64;  // 256 at most, as are lines
  int box_lines = 64;
  bool is_swizzled = true;  // by 128 bytes, which box_length has to be then
};

Status encode_tensor_map(const TensorView& view, CUtensorMap& map);

}  // namespace tunedops::cuda
