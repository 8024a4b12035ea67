#pragma once

// A product in the terms of Gemm_Sm90's kernels: plain data that goes to the
// GPU as a kernel's argument. The frame is that of the matrix instruction: rows
// come by 64, and `a` is the operand that has them; which of them are m and
// which n of the problem is decided on the host.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/gemm/cuda/sm90_stage.h"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "kernels/gemm/cuda/tile_streams.h"

namespace tunedops::cuda {

struct Sm90Operand {
  bool is_aligned;  // every line begins at a multiple of 16 bytes
  bool is_batched;  // else all matrices of the batch are the same
};

/// Where an operand's lines of contiguous elements are: of ks, or of rows or
/// columns. The copy engine wants a tensor to begin at a multiple of 16 bytes,
/// and lines to be multiples of that apart. Where they are not, every eighth
/// line is: so lines are in eight classes by their number modulo 8, each a
/// tensor of its own that begins at the multiple before its first line does,
/// `shift` elements before it.
struct Sm90Maps {
  CUtensorMap maps[kClasses];  // aligned operands have one
  int shift[kClasses];
  // Of a class that has no line, where a tensor has no elements either.
  int beyond[kClasses];
};

/// What all blocks read before they begin comes first, in as few lines of the
/// cache as it fits: each that is not there yet is waited for.
struct Sm90Product {
  Sm90Operand a;
  Sm90Operand b;
  bool is_turned;     // the instruction's columns are lines of the output
  bool writes_boxes;  // the copy engine writes the output
  bool writes_aside;  // warps that do not multiply do
  bool is_streamed;   // a block's steps do not end where tiles do
  int stages;
  int strip_buffers;  // 2, or 1 where there is no room
  int cluster_rows;   // tiles of a cluster, of which one is 1
  int cluster_columns;
  int cluster_splits;     // that meet in a cluster: all, or 1
  TileSchedule schedule;  // in clusters of tiles, and pieces along k
  TileOutput output;
  SplitMeeting meeting;
  TileStreams streams;  // of clusters, if it is streamed
  Sm90Maps a_maps;
  Sm90Maps b_maps;
  CUtensorMap output_map;
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
