#pragma once

// The warps of Gemm_Sm90 that bring the operands: stage after stage, as soon as
// the warps that multiply have left one. One thread tells the copy engine; what
// neighbours in a cluster share, each of them copies in part and for all. Where
// an operand has to be shifted, all four warps do that, and what they shift was
// asked for as many steps ahead as there are stages.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_shared.cuh"
#include "kernels/gemm/cuda/sm90_steps.cuh"

namespace tunedops::cuda {

/// The threads that bring operands.
inline constexpr int kSm90Copiers = 128;

/// Who takes part in copying one operand's tile.
struct Sm90Share {
  int rank;        // of this block among those that need the same
  bool is_of_two;  // all of the cluster; else this one is alone
};

inline constexpr std::uint16_t kBothBlocks = 3;

/// Of one operand what one stage holds. `first` is the first row (or column) of
/// the tile. Pieces along k lie below each other in memory too, so one copy
/// brings all of them.
template <bool kIsAlongK, int kPieces>
__device__ void copy_pieces(const CUtensorMap* map, const Sm90Share& share,
                            char* to, int first, const Sm90Step& step,
                            int batch, std::uint64_t* full) {
  if constexpr (kIsAlongK) {
    if (!share.is_of_two) {
      copy_box(to, map, {step.k, first, batch}, full);
    } else {
      const int above = share.rank * (kPieces * kPiece / 2);
      copy_box_to(kBothBlocks, to + above * kPieceLineBytes, map,
                  {step.k, first + above, batch}, full);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const BoxOrigin at{first + i * kPiece, step.k, batch};
      if (!share.is_of_two) {
        copy_box(to + i * kPieceBytes, map, at, full);
      } else if (i % 2 == share.rank) {
        copy_box_to(kBothBlocks, to + i * kPieceBytes, map, at, full);
      }
    }
  }
}

/// The same of what has to be shifted afterwards: the classes that a warp (of
/// four) shifts, since one thread would take too long to ask for all.
template <bool kIsAlongK, int kPieces>
__device__ void copy_raw(const Sm90Maps& maps, int warp, char* to, int first,
                         const Sm90Step& step, int batch, std::uint64_t* full) {
  using Raw = Sm90Raw<kIsAlongK, kPieces>;
#pragma unroll
  for (int group = 0; group < Raw::kGroups; ++group) {
    const int side = first + group * Raw::kAcross * kPiece;
    const int element = kIsAlongK ? step.k : side;
    const int line = (kIsAlongK ? side : step.k) / kClasses;
#pragma unroll 1
    for (int i = warp; i < kClasses; i += kSm90Copiers / 32) {
      copy_box(to + group * Raw::kGroupBytes + i * Raw::kBoxBytes,
               &maps.maps[i], {element + maps.beyond[i], line, batch}, full);
    }
  }
}

template <class Tile>
class Sm90Copier {
 public:
  /// `warp`: of the four that bring operands.
  __device__ Sm90Copier(const Sm90Product& product,
                        const Sm90Shared<Tile>& shared, int warp)
      : p_(product), shared_(shared), warp_(warp), steps_(product) {
    const Sm90Tiles& tiles = steps_.tiles();
    a_share_ = {tiles.rank_column(), p_.cluster_columns == 2};
    b_share_ = {tiles.rank_row(), p_.cluster_rows == 2};
  }

  /// Once, by one thread, as early as can be: fetching a map takes a
  /// microsecond.
  __device__ static void prepare(const Sm90Product& p) {
    prefetch(p.a, p.a_maps);
    prefetch(p.b, p.b_maps);
    if (p.writes_boxes) {
      prefetch_map(&p.output_map);
    }
  }

  /// How many arrive when a stage is full: who asks the copy engine, and warps
  /// that shift.
  __device__ static unsigned arrivals(const Sm90Product& p) {
    return (p.a.is_aligned || p.b.is_aligned ? 1 : 0) +
           (p.a.is_aligned && p.b.is_aligned ? 0 : kSm90Copiers / 32);
  }

  __device__ void run() {
    const bool shifts_a = !p_.a.is_aligned;
    const bool shifts_b = !p_.b.is_aligned;
    if (shifts_a && shifts_b) {
      shift_all<true, true>();
    } else if (shifts_a) {
      shift_all<true, false>();
    } else if (shifts_b) {
      shift_all<false, true>();
    } else if (warp_ == 0) {
      copy_all();
    }
  }

 private:
  using RawA = typename Tile::RawA;
  using RawB = typename Tile::RawB;

  __device__ static void prefetch(const Sm90Operand& operand,
                                  const Sm90Maps& maps) {
    for (int i = 0; i < (operand.is_aligned ? 1 : kClasses); ++i) {
      prefetch_map(&maps.maps[i]);
    }
  }

  // Of an operand.
  __device__ static int batch_of(const Sm90Operand& operand,
                                 const Sm90Step& step) {
    return operand.is_batched ? step.batch : 0;
  }

  // Nothing is read from memory or written there before this waited for the
  // launches before, by anyone in the block; all that can be done is done by
  // then.
  __device__ void copy_all() {
    Sm90Step step = steps_.next();
    wait_for_launches_before();
    for (; step.is_one; step = steps_.next()) {
      wait(shared_.empty(ring_.stage), ring_.parity ^ 1);
      if (is_elected()) {
        copy<true, true>(step);
      }
      ring_.advance(p_.stages);
    }
  }

  // What needs no shifting.
  template <bool kA, bool kB>
  __device__ void copy(const Sm90Step& step) {
    const int stage = ring_.stage;
    std::uint64_t* const full = shared_.full(stage);
    arrive_expecting(full, (kA ? Tile::kABytes : 0) + (kB ? Tile::kBBytes : 0));
    if constexpr (kA) {
      copy_pieces<Tile::kAIsAlongK, Tile::kAPieces>(
          &p_.a_maps.maps[0], a_share_, shared_.a(stage), step.row, step,
          batch_of(p_.a, step), full);
    }
    if constexpr (kB) {
      copy_pieces<Tile::kBIsAlongK, Tile::kBPieces>(
          &p_.b_maps.maps[0], b_share_, shared_.b(stage), step.column, step,
          batch_of(p_.b, step), full);
    }
  }

  // What has to be shifted, for a stage. Bytes may come before they are
  // expected, since the phase lasts until then in any case.
  template <bool kA, bool kB>
  __device__ void ask(const Sm90Step& step, int stage) {
    std::uint64_t* const full = shared_.raw_full(stage);
    if (warp_ == 0) {
      arrive_expecting(full, (kA ? RawA::kBytes : 0) + (kB ? RawB::kBytes : 0));
    }
    if constexpr (kA) {
      copy_raw<Tile::kAIsAlongK, Tile::kAPieces>(
          p_.a_maps, warp_, shared_.raw_a(stage), step.row, step,
          batch_of(p_.a, step), full);
    }
    if constexpr (kB) {
      copy_raw<Tile::kBIsAlongK, Tile::kBPieces>(
          p_.b_maps, warp_, shared_.raw_b(stage), step.column, step,
          batch_of(p_.b, step), full);
    }
  }

  // For all four warps: of both operands or of one, the other is copied.
  template <bool kA, bool kB>
  __device__ void shift_all() {
    Sm90Steps<Tile::kRows, Tile::kColumns> ahead(p_);
    const auto ask_next = [&](int stage) {
      const Sm90Step step = ahead.next();
      if (step.is_one && is_elected()) {
        ask<kA, kB>(step, stage);
      }
    };
    wait_for_launches_before();  // as copy_all does
    for (int stage = 0; stage < p_.stages; ++stage) {
      ask_next(stage);
    }
    for (Sm90Step step = steps_.next(); step.is_one; step = steps_.next()) {
      const int stage = ring_.stage;
      wait(shared_.empty(stage), ring_.parity ^ 1);
      if constexpr (!kA || !kB) {
        if (warp_ == 0 && is_elected()) {
          copy<!kA, !kB>(step);
        }
      }
      wait(shared_.raw_full(stage), ring_.parity);
      if constexpr (kA) {
        shift_lines<Tile::kAIsAlongK, Tile::kAPieces>(
            p_.a_maps, shared_address(shared_.raw_a(stage)),
            shared_address(shared_.a(stage)), warp_);
      }
      if constexpr (kB) {
        shift_lines<Tile::kBIsAlongK, Tile::kBPieces>(
            p_.b_maps, shared_address(shared_.raw_b(stage)),
            shared_address(shared_.b(stage)), warp_);
      }
      publish_stores();
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        arrive(shared_.full(stage));
      }
      // All have read it before it is written again.
      asm volatile("bar.sync 2, %0;" ::"n"(kSm90Copiers) : "memory");
      ask_next(stage);
      ring_.advance(p_.stages);
    }
  }

  const Sm90Product& p_;
  const Sm90Shared<Tile>& shared_;
  int warp_;
  Sm90Steps<Tile::kRows, Tile::kColumns> steps_;
  Sm90Share a_share_;
  Sm90Share b_share_;
  Sm90Ring ring_;
};

}  // namespace tunedops::cuda
