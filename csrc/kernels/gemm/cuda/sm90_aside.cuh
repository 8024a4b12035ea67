#pragma once

// Writing results aside, where the copy engine cannot: the warps that multiply
// leave a tile's results in shared memory and go on with the next tile, while
// the warps that have no operands to shift write them, line by line. The last
// tile of a block is written by all that multiplied it, since nothing is left
// to do meanwhile.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_lines.cuh"
#include "kernels/gemm/cuda/sm90_results.cuh"
#include "kernels/gemm/cuda/sm90_shared.cuh"
#include "kernels/gemm/cuda/sm90_tiles.cuh"
#include "kernels/gemm/cuda/warp_piece.h"

namespace tunedops::cuda {

/// Warps that write: those that bring operands, but the first, which does.
inline constexpr int kSm90AsideWarps = 3;

template <class Tile>
class Sm90Aside {
 public:
  __device__ Sm90Aside(const Sm90Product& product,
                       const Sm90Shared<Tile>& shared)
      : p_(product), shared_(shared) {}

  /// By a warp that multiplies: a piece of 16 rows by 64 columns, from `row` on
  /// of the tile; `with_sums` as in Sm90Writer.
  template <class WithSums>
  __device__ void put(const TileWork& work, int row, int column,
                      const WithSums& with_sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const TilePlace place = place_of(work, row, column);
    const Sm90Results<T> piece(p_.output, false);
    unsigned targets[4];
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      targets[time] = results() + row * kPitch + 2 * column +
                      warp_piece_target(lane, time, kPitch);
    }
    with_sums([&](const auto& sum) { piece.store(place, sum, targets); });
  }

  /// By the same, before it puts anything for a tile: until the tile before was
  /// written.
  __device__ void wait_empty() {
    wait(shared_.results_empty(), parity_ ^ 1);
    parity_ ^= 1;
  }

  /// When all of a warp's pieces were put.
  __device__ void hand_over() const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      arrive(shared_.results_full());
    }
  }

  /// Of the last tile, by the warp itself: 16 rows from `row` on.
  __device__ void write_own(const TileWork& work, int row) const {
    __syncwarp();
    Lines(p_.output, results() + row * kPitch, kPitch)
        .write(place_of(work, row, 0), kWarpPieceRows, 0, Lines::kAtOnce);
  }

  /// All of a block's tiles but the last, by warp `warp` of kSm90AsideWarps.
  __device__ void write_all(int warp) {
    Sm90Tiles tiles(p_);
    TileWork work;
    while (tiles.next(work) && !tiles.is_at_end()) {
      wait(shared_.results_full(), parity_);
      parity_ ^= 1;
      Lines(p_.output, results(), kPitch)
          .write(place_of(work, 0, 0), Tile::kRows, warp * Lines::kAtOnce,
                 kSm90AsideWarps * Lines::kAtOnce);
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        arrive(shared_.results_empty());
      }
    }
  }

 private:
  using T = typename Tile::Element;
  using Lines = Sm90Lines<T, Tile::kColumns>;
  static constexpr int kPitch = sm90_results_pitch(Tile::kColumns);

  __device__ unsigned results() const {
    return shared_address(shared_.results());
  }

  __device__ static TilePlace place_of(const TileWork& work, int row,
                                       int column) {
    return {work.row_tile * Tile::kRows + row,
            work.column_tile * Tile::kColumns + column, work.batch};
  }

  const Sm90Product& p_;
  const Sm90Shared<Tile>& shared_;
  unsigned parity_ = 0;
};

}  // namespace tunedops::cuda
