#pragma once

// Tiles in the frame of the tensor cores' instruction, whose rows lie along n
// of the problem or, in what is turned, along m.

#include "kernels/gemm/cuda/cublaslt_tiles.h"

namespace tunedops::cuda {

struct InstructionTile {
  int rows;
  int columns;
  bool operator==(const InstructionTile&) const = default;
};

constexpr InstructionTile to_instruction(TileSize tile, bool turned) {
  return turned ? InstructionTile{tile.m, tile.n}
                : InstructionTile{tile.n, tile.m};
}

constexpr TileSize to_problem(InstructionTile tile, bool turned) {
  return turned ? TileSize{tile.rows, tile.columns}
                : TileSize{tile.columns, tile.rows};
}

}  // namespace tunedops::cuda
