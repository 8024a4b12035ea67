#pragma once

// Multiplying what a warp has loaded. A lane is known by its group (0 to 7, a
// row of a tile) and its place in it (0 to 3). Sums of all kernels lie as the
// tensor cores leave them: a lane has columns 2 * place and 2 * place + 1 of
// every tile of 8 columns, for each of its rows.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tunedops::cuda {

template <int kRows, int kColumnTiles>
using Sums = float[kRows][kColumnTiles][2];

/// upper and lower (16 x 16, rows `group` and `group + 8`) times columns
/// (16 x 8), added to the sums of both rows.
template <class T>
__device__ void multiply_tile(float (&upper)[2], float (&lower)[2],
                              unsigned upper0, unsigned lower0, unsigned upper1,
                              unsigned lower1, unsigned column0,
                              unsigned column1);

#define TUNEDOPS_MULTIPLY_TILE(Type, name)                                     \
  template <>                                                                  \
  __device__ inline void multiply_tile<Type>(                                  \
      float (&upper)[2], float (&lower)[2], unsigned upper0, unsigned lower0,  \
      unsigned upper1, unsigned lower1, unsigned column0, unsigned column1) {  \
    asm volatile(                                                              \
        "mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "         \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
        : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])       \
        : "r"(upper0), "r"(lower0), "r"(upper1), "r"(lower1), "r"(column0),    \
          "r"(column1));                                                       \
  }

TUNEDOPS_MULTIPLY_TILE(__nv_bfloat16, "bf16")
TUNEDOPS_MULTIPLY_TILE(__half, "f16")
#undef TUNEDOPS_MULTIPLY_TILE

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
