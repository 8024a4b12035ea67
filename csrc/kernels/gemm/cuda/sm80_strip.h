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

/// Of both operands in one stage.
constexpr std::size_t sm80_stage_bytes(int tile_rows, int tile_columns) {
  return std::size_t{2} * kSm80StageK *
         static_cast<std::size_t>(tile_rows + tile_columns);
}

constexpr std::size_t sm80_shared_bytes(int tile_rows, int tile_columns,
                                        int stages) {
  return std::max(static_cast<std::size_t>(stages) *
                      sm80_stage_bytes(tile_rows, tile_columns),
                  sizeof(float) * kSm80Warps *
                      static_cast<std::size_t>(
                          sm80_strip_floats(tile_rows / 2, tile_columns / 2)));
}

/// What a kernel has for itself of what a block may have.
inline constexpr std::size_t kSm80OwnSharedBytes = 256;

}  // namespace tunedops::cuda
