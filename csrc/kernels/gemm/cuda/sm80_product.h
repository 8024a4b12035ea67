#pragma once

// A product in the terms of Gemm_Sm80's kernels: plain data that goes to the
// GPU as a kernel's argument. The frame is that of the matrix instruction: rows
// come by 16 and columns by 8, and `a` is the operand that has the rows; which
// of them are m and which n of the problem is decided on the host.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_schedule.h"

namespace tunedops::cuda {

/// An operand as lines of contiguous elements: along k, or of one k each.
struct Sm80Operand {
  const void* data;
  std::int64_t line_stride;  // in elements
  std::int64_t batch_stride;
  int lines;
  int length;
  /// Whether every line begins at a multiple of 16 bytes, and is copied as
  /// such. If lines of both operands are along k, both are or none.
  bool is_aligned;
};

struct Sm80Product {
  Sm80Operand a;
  Sm80Operand b;
  TileOutput output;
  SplitMeeting meeting;
  TileSchedule schedule;
  int stages;
  bool is_turned;  // the instruction's columns are lines of the output
};

/// Which compiled kernel runs, and how.
struct Sm80Launch {
  int tile_rows = 128;
  int tile_columns = 128;
  bool a_has_k_contiguous = true;
  bool b_has_k_contiguous = true;
  int blocks = 1;
  std::size_t shared_bytes = 0;
  std::size_t most_shared_bytes = 0;  // that the device has for a block
  cudaStream_t stream = nullptr;
};

/// One for each element type. `prepare` makes the kernel ready to be launched
/// on the current device.
cudaError_t prepare_sm80_bfloat16(const Sm80Launch& launch);
cudaError_t prepare_sm80_float16(const Sm80Launch& launch);
cudaError_t run_sm80_bfloat16(const Sm80Product& product,
                              const Sm80Launch& launch);
cudaError_t run_sm80_float16(const Sm80Product& product,
                             const Sm80Launch& launch);

}  // namespace tunedops::cuda
