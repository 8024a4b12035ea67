#pragma once

// A product in the terms of Gemm_Sm90's kernels: plain data that goes to the
// GPU as a kernel's argument. The frame is that of the matrix instruction: rows
// come by 64, and `a` is the operand that has them; which of them are m and
// which n of the problem is decided on the host.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_schedule.h"

namespace tunedops::cuda {

/// Rows or columns that one piece of a tile holds, and its length along k.
inline constexpr int kPiece = 64;  // both
inline constexpr int kPieceBytes = kPiece * kPiece * 2;

/// Lines of contiguous elements: of ks, or of rows or columns. Those that begin
/// at multiples of 16 bytes are aligned; the copy engine brings them, for which
/// there is a map.
struct Sm90Operand {
  CUtensorMap map;
  const void* data;
  std::int64_t line_stride;    // in elements
  std::int64_t matrix_stride;  // 0: all matrices of the batch are the same
  int lines;
  int length;
  int is_aligned;
};

struct Sm90Product {
  Sm90Operand a;
  Sm90Operand b;
  TileOutput output;
  SplitMeeting meeting;
  TileSchedule schedule;  // in clusters of tiles, and pieces along k
  int cluster_rows;       // tiles of a cluster, of which one is 1
  int cluster_columns;
  int stages;
};

/// Which compiled kernel runs, and how.
struct Sm90Launch {
  int tile_rows = 128;
  int tile_columns = 128;
  bool a_has_k_contiguous = true;
  bool b_has_k_contiguous = true;
  int blocks = 1;  // of the whole grid, whole clusters
  int cluster = 1;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

/// One for each element type. `prepare` makes the kernel ready to be launched
/// on the current device.
cudaError_t prepare_sm90_bfloat16(const Sm90Launch& launch);
cudaError_t prepare_sm90_float16(const Sm90Launch& launch);
cudaError_t run_sm90_bfloat16(const Sm90Product& product,
                              const Sm90Launch& launch);
cudaError_t run_sm90_float16(const Sm90Product& product,
                             const Sm90Launch& launch);

/// Whether the code that was compiled for the current device has Hopper's own
/// instructions: what was compiled for 9.0 and not for 9.0a has not.
bool sm90_is_compiled();

}  // namespace tunedops::cuda
