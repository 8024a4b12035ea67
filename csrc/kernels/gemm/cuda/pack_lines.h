#pragma once

// Copies a matrix whose lines begin at any element to one whose lines begin at
// multiples of 16 bytes, for kernels that can only read such.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/gemm/cuda/packed_lines.h"

namespace tunedops::cuda {

/// Of 2-byte elements; strides are in elements.
struct UnpackedLines {
  const void* data = nullptr;
  std::int64_t length = 0;
  std::int64_t lines = 0;
  std::int64_t line_stride = 0;
  std::int64_t matrices = 1;
  std::int64_t matrix_stride = 0;
};

/// Lines follow one another in `to`, and so do matrices. What is behind the end
/// of a line there is zero.
cudaError_t pack_lines(const UnpackedLines& from, void* to,
                       cudaStream_t stream);

}  // namespace tunedops::cuda
