#pragma once

// Multiplying what a warp has loaded. A lane is known by its group (0 to 7, a
// row of a tile) and its place in it (0 to 3). Sums of all kernels lie as the
// tensor cores leave them: a lane has columns 2 * place and 2 * place + 1 of
// every tile of 8 columns, for each of its rows.

#include "kernels/gemm/cuda/multiply_tile.cuh"

namespace tunedops::cuda {

template <int kRows, int kColumnTiles>
using Sums = float[kRows][kColumnTiles][2];

/// fp32 sums of one row, all columns, over the ks of this lane alone.
template <int kRows, int kColumnTiles>
using LaneSums = float[kRows][kColumnTiles][8];

/// Adds up the four lanes of a group, and leaves each its two columns.
template <int kRows, int kColumnTiles>
__device__ void add_up_group(const float (&lane)[kRows][kColumnTiles][8],
                             float (&sums)[kRows][kColumnTiles][2]) {
  constexpr unsigned kAll = 0xffffffff;
  const bool is_high = (threadIdx.x & 2) != 0;
  const bool is_odd = (threadIdx.x & 1) != 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int tile = 0; tile < kColumnTiles; ++tile) {
      const float (&all)[8] = lane[row][tile];
      float half[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float given = is_high ? all[i] : all[4 + i];
        half[i] =
            (is_high ? all[4 + i] : all[i]) + __shfl_xor_sync(kAll, given, 2);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float given = is_odd ? half[i] : half[2 + i];
        sums[row][tile][i] =
            (is_odd ? half[2 + i] : half[i]) + __shfl_xor_sync(kAll, given, 1);
      }
    }
  }
}

}  // namespace tunedops::cuda
