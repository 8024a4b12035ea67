#pragma once

// Sizes of the shared memory of a block of Gemm_Sm80; the host has to know them
// too. What the stages take is free again when sums go to the output.

#include <algorithm>
#include <cstddef>

#include "kernels/gemm/cuda/sm80_tile.h"
#include "kernels/gemm/cuda/tile_strip.h"

namespace tunedops::cuda {

/// Of a tile: two warps side by side, and two below each other.
inline constexpr int kSm80Warps = kSm80Threads / 32;

/// Room behind the rows of a strip, so that the threads of a warp that fill it
/// meet different banks: along the instruction's rows or across them.
inline constexpr int kSm80StripRoom = 8;
inline constexpr int kSm80StripRoomTurned = 4;

/// Of one warp whose sums are so many rows and columns.
constexpr int sm80_strip_floats(int rows, int columns) {
  return kStripRows * (std::max(rows, columns) + kSm80StripRoom);
}

/// Of an operand in one stage, so many rows or columns. Of a line that is not
/// aligned there is a chunk more.
constexpr std::size_t sm80_part_bytes(int side, bool is_along_k,
                                      bool is_aligned) {
  const int lines = is_along_k ? side : kSm80StageK;
  const int length = is_along_k ? kSm80StageK : side;
  return std::size_t{2} * static_cast<std::size_t>(lines) *
         static_cast<std::size_t>(length + (is_aligned ? 0 : 8));
}

/// `stage_bytes`: of both operands.
constexpr std::size_t sm80_shared_bytes(int tile_rows, int tile_columns,
                                        std::size_t stage_bytes, int stages) {
  return std::max(static_cast<std::size_t>(stages) * stage_bytes,
                  sizeof(float) * kSm80Warps *
                      static_cast<std::size_t>(
                          sm80_strip_floats(tile_rows / 2, tile_columns / 2)));
}

/// What a kernel has for itself of what a block may have.
inline constexpr std::size_t kSm80OwnSharedBytes = 256;

}  // namespace tunedops::cuda
