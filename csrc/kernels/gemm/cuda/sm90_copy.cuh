#pragma once

// The warps of Gemm_Sm90 that bring the operands: stage after stage, as soon as
// the warps that multiply have left one. Where operands are aligned, one warp
// has the copy engine do it; what neighbours in a cluster share, each of them
// copies in part and for all. Four warps bring what has to be shifted.

#include "kernels/gemm/cuda/sm90_shared.cuh"
#include "kernels/gemm/cuda/sm90_shift.cuh"
#include "kernels/gemm/cuda/sm90_steps.cuh"

namespace tunedops::cuda {

/// Who takes part in copying one operand's tile.
struct Sm90Share {
  int count;  // of blocks that need the same
  int rank;   // of this one among them
  std::uint16_t blocks;
};

/// Of one operand, its pieces of one stage, spread over the lanes of a warp.
/// `first` is the first row (or column) of the tile.
template <bool kIsAlongK, int kPieces>
__device__ void copy_pieces(const Sm90Operand& operand, const Sm90Share& share,
                            char* to, int first, const Sm90Step& step,
                            std::uint64_t* full) {
  const int piece = static_cast<int>(threadIdx.x) % 32;
  if (piece >= kPieces || piece % share.count != share.rank) {
    return;
  }
  const int side = first + piece * kPiece;
  const BoxOrigin at{kIsAlongK ? step.k : side, kIsAlongK ? side : step.k,
                     operand.matrix_stride != 0 ? step.batch : 0};
  if (share.count == 1) {
    copy_box(to + piece * kPieceBytes, &operand.map, at, full);
  } else {
    copy_box_to(share.blocks, to + piece * kPieceBytes, &operand.map, at, full);
  }
}

template <class Tile>
class Sm90Copier {
 public:
  __device__ Sm90Copier(const Sm90Product& product,
                        const Sm90Shared<Tile>& shared)
      : p_(product), shared_(shared), steps_(product) {
    const Sm90Tiles& tiles = steps_.tiles();
    a_share_ = {p_.cluster_columns, tiles.rank_column(), 0};
    b_share_ = {p_.cluster_rows, tiles.rank_row(), 0};
    for (int column = 0; column < p_.cluster_columns; ++column) {
      a_share_.blocks |= 1U << (tiles.rank_row() + column * p_.cluster_rows);
    }
    for (int row = 0; row < p_.cluster_rows; ++row) {
      b_share_.blocks |= 1U << (row + tiles.rank_column() * p_.cluster_rows);
    }
  }

  /// Once, by one thread, as early as can be: fetching a map takes a
  /// microsecond.
  __device__ static void prepare(const Sm90Product& p) {
    for (const Sm90Operand* operand : {&p.a, &p.b}) {
      if (operand->is_aligned != 0) {
        prefetch_map(&operand->map);
      }
    }
  }

  /// For a group of four warps.
  __device__ void run() {
    const bool shifts_a = p_.a.is_aligned == 0;
    const bool shifts_b = p_.b.is_aligned == 0;
    if (shifts_a && shifts_b) {
      shift_all<true, true>();
    } else if (shifts_a) {
      shift_all<true, false>();
    } else if (shifts_b) {
      shift_all<false, true>();
    } else if (is_first_warp()) {
      copy_all();
    }
  }

  /// How many arrive when a stage is full.
  __device__ static unsigned arrivals(const Sm90Product& p) {
    return p.a.is_aligned != 0 && p.b.is_aligned != 0 ? 1
                                                      : 1 + kSm90Loaders / 32;
  }

 private:
  __device__ static bool is_first_warp() {
    return threadIdx.x % kSm90Loaders < 32;
  }

  __device__ void copy_all() {
    for (Sm90Step step = steps_.next(); step.is_one; step = steps_.next()) {
      wait(shared_.empty(ring_.stage), ring_.parity ^ 1);
      copy<true, true>(step);
      ring_.advance(p_.stages);
    }
  }

  template <bool kA, bool kB>
  __device__ void copy(const Sm90Step& step) {
    std::uint64_t* const full = shared_.full(ring_.stage);
    if (threadIdx.x % 32 == 0) {
      arrive_expecting(full,
                       (kA ? Tile::kABytes : 0) + (kB ? Tile::kBBytes : 0));
    }
    __syncwarp();
    if constexpr (kA) {
      copy_pieces<Tile::kAIsAlongK, kAPieces>(
          p_.a, a_share_, shared_.a(ring_.stage), step.row, step, full);
    }
    if constexpr (kB) {
      copy_pieces<Tile::kBIsAlongK, kBPieces>(
          p_.b, b_share_, shared_.b(ring_.stage), step.column, step, full);
    }
  }

  // For the operands that the copy engine does not take.
  template <bool kA, bool kB>
  __device__ void shift_all() {
    Sm90Shifter<Tile::kAIsAlongK, kAPieces> a(p_.a);
    Sm90Shifter<Tile::kBIsAlongK, kBPieces> b(p_.b);
    Sm90Step step = steps_.next();
    if constexpr (kA) {
      a.load(step, step.row);
    }
    if constexpr (kB) {
      b.load(step, step.column);
    }
    while (step.is_one) {
      const Sm90Step next = steps_.next();
      const int stage = ring_.stage;
      wait(shared_.empty(stage), ring_.parity ^ 1);
      if (is_first_warp()) {
        copy<!kA, !kB>(step);
      }
      if constexpr (kA) {
        a.store(shared_address(shared_.a(stage)), next, next.row);
      }
      if constexpr (kB) {
        b.store(shared_address(shared_.b(stage)), next, next.column);
      }
      publish_stores();
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        arrive(shared_.full(stage));
      }
      ring_.advance(p_.stages);
      step = next;
    }
  }

  static constexpr int kAPieces = Tile::kRows / kPiece;
  static constexpr int kBPieces = Tile::kColumns / kPiece;

  const Sm90Product& p_;
  const Sm90Shared<Tile>& shared_;
  Sm90Steps<Tile::kRows, Tile::kColumns> steps_;
  Sm90Share a_share_;
  Sm90Share b_share_;
  Sm90Ring ring_;
};

}  // namespace tunedops::cuda
