#pragma once

// The matrix instruction that all GPUs since Ampere have. A lane is known by
// its group (0 to 7, a row of a tile) and its place in it (0 to 3): of every
// tile of 8 columns it has the sums of columns 2 * place and 2 * place + 1.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tunedops::cuda {

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

}  // namespace tunedops::cuda
