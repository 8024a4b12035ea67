#pragma once

// The warp of Gemm_Sm90 that brings the operands: stage after stage, as soon as
// the warps that multiply have left one. What neighbours in a cluster share,
// each of them copies in part and for all.

#include "kernels/gemm/cuda/sm90_shared.cuh"
#include "kernels/gemm/cuda/sm90_tiles.cuh"

namespace tunedops::cuda {

/// Who takes part in copying one operand's tile.
struct Sm90Share {
  int count;  // of blocks that need the same
  int rank;   // of this one among them
  std::uint16_t blocks;
};

/// Of one operand, its pieces of one stage, spread over the lanes of a warp.
/// `first` is the first row (or column) of the tile.
template <bool kIsContiguousAlongK, int kPieces>
__device__ void copy_pieces(const Sm90Operand& operand, const Sm90Share& share,
                            char* to, int first, int k, int batch,
                            std::uint64_t* full) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int boxes = operand.is_by_class != 0 ? kClasses : 1;
  for (int i = lane; i < kPieces * boxes; i += 32) {
    const int piece = i / boxes;
    const int box = i % boxes;
    if (piece % share.count != share.rank) {
      continue;
    }
    const int side = first + piece * kPiece;
    const int line = kIsContiguousAlongK ? side : k;
    const BoxOrigin at{(kIsContiguousAlongK ? k : side) + operand.shift[box],
                       line / boxes, operand.is_batched != 0 ? batch : 0};
    char* const place = to + piece * kPieceBytes + box * (kPieceBytes / boxes);
    if (share.count == 1) {
      copy_box(place, &operand.maps[box], at, full);
    } else {
      copy_box_to(share.blocks, place, &operand.maps[box], at, full);
    }
  }
}

template <class Tile>
__device__ void copy_tiles(const Sm90Product& p,
                           const Sm90Shared<Tile>& shared) {
  Sm90Tiles tiles(p);
  const auto bit = [](int rank) { return 1U << rank; };
  Sm90Share a_share{p.cluster_columns, tiles.rank_column(), 0};
  Sm90Share b_share{p.cluster_rows, tiles.rank_row(), 0};
  for (int column = 0; column < p.cluster_columns; ++column) {
    a_share.blocks |= bit(tiles.rank_row() + column * p.cluster_rows);
  }
  for (int row = 0; row < p.cluster_rows; ++row) {
    b_share.blocks |= bit(row + tiles.rank_column() * p.cluster_rows);
  }
  Sm90Ring ring;
  TileWork work;
  while (tiles.next(work)) {
    const int row = work.row_tile * Tile::kRows;
    const int column = work.column_tile * Tile::kColumns;
    for (int step = work.k_begin; step < work.k_end; ++step) {
      std::uint64_t* const full = shared.full(ring.stage);
      wait(shared.empty(ring.stage), ring.parity ^ 1);
      if (threadIdx.x % 32 == 0) {
        arrive_expecting(full, Tile::kStageBytes);
      }
      __syncwarp();
      copy_pieces<Tile::kAIsAlongK, Tile::kRows / kPiece>(
          p.a, a_share, shared.a(ring.stage), row, step * kPiece, work.batch,
          full);
      copy_pieces<Tile::kBIsAlongK, Tile::kColumns / kPiece>(
          p.b, b_share, shared.b(ring.stage), column, step * kPiece, work.batch,
          full);
      ring.advance(p.stages);
    }
  }
}

}  // namespace tunedops::cuda
