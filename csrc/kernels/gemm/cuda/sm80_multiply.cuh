#pragma once

// A block of Gemm_Sm80: one split of one tile. Its four warps, each with a
// quarter of the tile in registers, multiply one stage after the other while
// those that come next are on their way.

#include "kernels/gemm/cuda/multiply_tile.cuh"
#include "kernels/gemm/cuda/shared_address.cuh"
#include "kernels/gemm/cuda/sm80_copy.cuh"
#include "kernels/gemm/cuda/sm80_finish.cuh"
#include "kernels/gemm/cuda/sm80_fragments.cuh"
#include "kernels/gemm/cuda/split_sums.cuh"

namespace tunedops::cuda {

/// What a kernel is compiled for. `T`: the type of both operands.
template <class T, int kTileRows, int kTileColumns, bool kAAlongK,
          bool kBAlongK>
struct Sm80Tile {
  using Element = T;
  static constexpr bool kAIsAlongK = kAAlongK;
  static constexpr bool kBIsAlongK = kBAlongK;
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = kTileColumns;
  static constexpr int kWarpRows = kRows / 2;
  static constexpr int kWarpColumns = kColumns / 2;

  /// Of a lane: of each 8 rows the one that its group says, and two columns of
  /// each 8.
  using Sums = float[kWarpRows / 8][kWarpColumns / 8][2];
};

template <class Tile>
class Sm80Block {
 public:
  /// `memory`: all of the block's shared memory.
  __device__ Sm80Block(const Sm80Product& product, char* memory)
      : p_(product), memory_(memory) {}

  __device__ void run() {
    const TileWork work = work_of(p_.schedule, static_cast<int>(blockIdx.x));
    __builtin_assume(work.split >= 0);  // so its sign takes no register
    multiply(work);
    if (p_.schedule.splits == 1 || add_splits(work)) {
      write(work);
    }
  }

 private:
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  // Of the warp in the tile.
  __device__ static int row() { return warp() % 2 * Tile::kWarpRows; }
  __device__ static int column() { return warp() / 2 * Tile::kWarpColumns; }

  // Which operands are aligned is known at run time only, once for all steps:
  // kernels for each case would be four times as many.
  __device__ void multiply(const TileWork& work) {
    using A = Sm80Part<Tile::kRows, Tile::kAIsAlongK>;
    using B = Sm80Part<Tile::kColumns, Tile::kBIsAlongK>;
    using RawA = Sm80Raw<Tile::kRows, Tile::kAIsAlongK>;
    using RawB = Sm80Raw<Tile::kColumns, Tile::kBIsAlongK>;
    if (p_.a.is_aligned && p_.b.is_aligned) {
      multiply_steps<A, B>(work);
    } else if constexpr (Tile::kAIsAlongK && Tile::kBIsAlongK) {
      multiply_steps<RawA, RawB>(work);
    } else if (p_.a.is_aligned) {
      multiply_steps<A, RawB>(work);
    } else if (p_.b.is_aligned) {
      multiply_steps<RawA, B>(work);
    } else {
      multiply_steps<RawA, RawB>(work);
    }
  }

  // In each round copies of the step begin that is `ahead` further. The first
  // rounds only do that: there is nothing to multiply yet.
  template <class A, class B>
  __device__ void multiply_steps(const TileWork& work) {
    constexpr int kStageBytes = A::kBytes + B::kBytes;
    static_assert(kStageBytes ==
                  sm80_part_bytes(A::kSide, A::kIsAlongK, !A::kIsRaw) +
                      sm80_part_bytes(B::kSide, B::kIsAlongK, !B::kIsRaw));
    const unsigned stages = shared_address(memory_);
    Sm80Copier<A> a(p_.a, work.row_tile * Tile::kRows, work.k_begin,
                    work.batch);
    Sm80Copier<B> b(p_.b, work.column_tile * Tile::kColumns, work.k_begin,
                    work.batch);
    constexpr bool kIsRaw = A::kIsRaw || B::kIsRaw;
    constexpr bool kIsSpread =
        (A::kIsRaw && A::kIsAlongK) || (B::kIsRaw && B::kIsAlongK);
    Sm80Fragments<A, kIsSpread, true> rows(p_.a, row(), work.batch, stages);
    Sm80Fragments<B, kIsSpread, false> columns(p_.b, column(), work.batch,
                                               stages + A::kBytes);
    const int ahead = p_.stages - 1;
    int stage = 0;  // that is filled, the one before that which is multiplied
    for (int step = work.k_begin - ahead; step < work.k_end; ++step) {
      const bool multiplies = step >= work.k_begin;
      if (multiplies) {
        wait_copies_but(ahead - 1);
        __syncthreads();
      }
      if (step + ahead < work.k_end) {
        a.begin(stages + stage * kStageBytes);
        b.begin(stages + stage * kStageBytes + A::kBytes);
      }
      commit_copies();
      stage = next(stage);
      if (multiplies) {
        if constexpr (kIsRaw) {
          multiply_raw_stage(rows, columns);
          const int bytes = (next(stage) - stage) * kStageBytes;
          rows.move(bytes);
          columns.move(bytes);
        } else {
          const unsigned a_stage = stages + stage * kStageBytes;
          multiply_stage<A, B>(a_stage, a_stage + A::kBytes);
        }
      }
    }
  }

  __device__ int next(int stage) const {
    return stage + 1 == p_.stages ? 0 : stage + 1;
  }

  template <class A, class B>
  __device__ void multiply_stage(unsigned a_stage, unsigned b_stage) {
    using ReadA = Sm80Read<A, true>;
    using ReadB = Sm80Read<B, false>;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int a_first = ReadA::stepped(ReadA::first(lane), row(), 0);
    const int b_first = ReadB::stepped(ReadB::first(lane), column(), 0);
#pragma unroll
    for (int slice = 0; slice < kSm80StageK / 16; ++slice) {
      unsigned a[Tile::kWarpRows / 16][4];
      unsigned b[Tile::kWarpColumns / 16][4];
#pragma unroll
      for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
        read_matrices<!A::kIsAlongK>(
            a[i], a_stage + ReadA::stepped(a_first, 16 * i, slice));
      }
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 16; ++j) {
        read_matrices<!B::kIsAlongK>(
            b[j], b_stage + ReadB::stepped(b_first, 16 * j, slice));
      }
#pragma unroll
      for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kWarpColumns / 8; ++j) {
          multiply_tile<typename Tile::Element>(
              sums_[2 * i][j], sums_[2 * i + 1][j], a[i][0], a[i][1], a[i][2],
              a[i][3], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }

  // What is put together of words gives all ks of a stage at one time. Of rows
  // there are not more than of columns: so those of all rows are kept.
  template <class A, class B>
  __device__ void multiply_raw_stage(const A& rows, const B& columns) {
    static_assert(Tile::kWarpRows <= Tile::kWarpColumns);
    Sm80Rows a[Tile::kWarpRows / 16];
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
      rows.read(a[i], 16 * i);
    }
#pragma unroll
    for (int j = 0; j < Tile::kWarpColumns / 8; ++j) {
      Sm80Pairs b;
      columns.read(b, 8 * j);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
#pragma unroll
        for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
          multiply_tile<typename Tile::Element>(
              sums_[2 * i][j], sums_[2 * i + 1][j], a[i][k][0], a[i][k][1],
              a[i][k][2], a[i][k][3], b[2 * k], b[2 * k + 1]);
        }
      }
    }
  }

  __device__ bool add_splits(const TileWork& work) {
    constexpr int kColumnTiles = Tile::kWarpColumns / 8;
    return add_up_splits<Tile::kWarpRows / 8 * kColumnTiles * 2, kSm80Threads>(
        p_.meeting, work.place, splits_of(p_.schedule, work),
        [&](int i) -> float& {
          return sums_[i / 2 / kColumnTiles][i / 2 % kColumnTiles][i % 2];
        },
        [] { __syncthreads(); });
  }

  __device__ void write(const TileWork& work) {
    __syncthreads();  // the strips lie where stages were
    constexpr int kStrip =
        sm80_strip_floats(Tile::kWarpRows, Tile::kWarpColumns);
    const Sm80Finish<Tile> finish(p_, reinterpret_cast<float*>(memory_) +
                                          warp() * kStrip);
    const int first_row = work.row_tile * Tile::kRows + row();
    const int first_column = work.column_tile * Tile::kColumns + column();
    finish.write(sums_, p_.is_turned
                            ? TilePlace{first_column, first_row, work.batch}
                            : TilePlace{first_row, first_column, work.batch});
  }

  const Sm80Product& p_;
  char* memory_;
  typename Tile::Sums sums_{};
};

}  // namespace tunedops::cuda
