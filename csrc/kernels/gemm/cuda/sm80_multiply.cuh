#pragma once

// A block of Gemm_Sm80: one split of one tile. Its four warps, each with a
// quarter of the tile in registers, multiply one stage after the other while
// those that come next are on their way.

#include "kernels/gemm/cuda/multiply_tile.cuh"
#include "kernels/gemm/cuda/shared_address.cuh"
#include "kernels/gemm/cuda/sm80_copy.cuh"
#include "kernels/gemm/cuda/sm80_finish.cuh"
#include "kernels/gemm/cuda/split_sums.cuh"

namespace tunedops::cuda {

/// What a kernel is compiled for. `T`: the type of both operands.
template <class T, int kTileRows, int kTileColumns, bool kAAlongK,
          bool kBAlongK>
struct Sm80Tile {
  using Element = T;
  using A = Sm80Part<kTileRows, kAAlongK>;
  using B = Sm80Part<kTileColumns, kBAlongK>;
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = kTileColumns;
  static constexpr int kWarpRows = kRows / 2;
  static constexpr int kWarpColumns = kColumns / 2;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  static_assert(kStageBytes == sm80_stage_bytes(kRows, kColumns));

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
    const TileWork work =
        work_of(p_.schedule, static_cast<int>(blockIdx.x), kTilesDown);
    multiply(work);
    if (p_.schedule.splits == 1 || add_splits(work)) {
      write(work);
    }
  }

 private:
  static constexpr int kTilesDown = 8;

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  // Of the warp in the tile.
  __device__ static int row() { return warp() % 2 * Tile::kWarpRows; }
  __device__ static int column() { return warp() / 2 * Tile::kWarpColumns; }

  // In each round copies of the step begin that is `ahead` further, and what
  // goes through registers is loaded that comes next. The first rounds only do
  // that: there is nothing to multiply yet.
  __device__ void multiply(const TileWork& work) {
    const unsigned stages = shared_address(memory_);
    Sm80Copier<typename Tile::A> a(p_.a, work.row_tile * Tile::kRows,
                                   work.k_begin, work.batch);
    Sm80Copier<typename Tile::B> b(p_.b, work.column_tile * Tile::kColumns,
                                   work.k_begin, work.batch);
    const auto a_at = [&](int stage) {
      return stages + stage * Tile::kStageBytes;
    };
    const auto b_at = [&](int stage) { return a_at(stage) + Tile::A::kBytes; };
    const int ahead = p_.stages - 1;
    int copied = 0;  // the stage that is filled
    int stage = 0;   // that is multiplied
    for (int step = work.k_begin - ahead; step < work.k_end; ++step) {
      const bool multiplies = step >= work.k_begin;
      if (multiplies) {
        wait_copies_but(ahead - 1);
        __syncthreads();
      }
      if (step + ahead < work.k_end) {
        a.begin(a_at(copied));
        b.begin(b_at(copied));
      }
      commit_copies();
      copied = next(copied);
      const bool loads = step + 1 >= work.k_begin && step + 1 < work.k_end;
      if (loads && a.is_by_words()) {
        a.load();
      }
      if (loads && b.is_by_words()) {
        b.load();
      }
      if (multiplies) {
        multiply_stage(a_at(stage), b_at(stage));
        stage = next(stage);
      }
      if (loads && a.is_by_words()) {
        a.store(a_at(stage));
      }
      if (loads && b.is_by_words()) {
        b.store(b_at(stage));
      }
    }
  }

  __device__ int next(int stage) const {
    return stage + 1 == p_.stages ? 0 : stage + 1;
  }

  __device__ void multiply_stage(unsigned a_stage, unsigned b_stage) {
    using ReadA = Sm80Read<typename Tile::A, true>;
    using ReadB = Sm80Read<typename Tile::B, false>;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int a_first = ReadA::stepped(ReadA::first(lane), row(), 0);
    const int b_first = ReadB::stepped(ReadB::first(lane), column(), 0);
#pragma unroll
    for (int slice = 0; slice < kSm80StageK / 16; ++slice) {
      unsigned a[Tile::kWarpRows / 16][4];
      unsigned b[Tile::kWarpColumns / 16][4];
#pragma unroll
      for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
        read_matrices<!Tile::A::kIsAlongK>(
            a[i], a_stage + ReadA::stepped(a_first, 16 * i, slice));
      }
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 16; ++j) {
        read_matrices<!Tile::B::kIsAlongK>(
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

  __device__ bool add_splits(const TileWork& work) {
    constexpr int kColumnTiles = Tile::kWarpColumns / 8;
    return add_up_splits<Tile::kWarpRows / 8 * kColumnTiles * 2, kSm80Threads>(
        p_.meeting, work, p_.schedule.splits,
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
