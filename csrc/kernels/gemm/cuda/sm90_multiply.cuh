#pragma once

// The two groups of warps of Gemm_Sm90 that multiply. Each has half of the
// tile's rows in registers; while the tensor cores work on one stage, the next
// is on its way.

#include "kernels/gemm/cuda/sm90_aside.cuh"
#include "kernels/gemm/cuda/sm90_cluster_sums.cuh"
#include "kernels/gemm/cuda/sm90_shared.cuh"
#include "kernels/gemm/cuda/sm90_tiles.cuh"
#include "kernels/gemm/cuda/sm90_writer.cuh"
#include "kernels/gemm/cuda/split_sums.cuh"
#include "kernels/gemm/cuda/wgmma.cuh"

namespace tunedops::cuda {

inline constexpr int kSm90Multipliers = 32 * kSm90Warps;  // threads

template <class Tile>
class Sm90Multiplier {
 public:
  __device__ Sm90Multiplier(const Sm90Product& product,
                            const Sm90Shared<Tile>& shared, int warp)
      : p_(product), shared_(shared), warp_(warp),
        writer_(product, shared, warp), aside_(product, shared) {}

  __device__ __forceinline__ void run() {
    Sm90Tiles tiles(p_);
    TileWork work;
    while (tiles.next(work)) {
      multiply(work, tiles.cluster());
      if (p_.writes_aside) {
        put_aside(work, tiles.is_at_end());
        continue;
      }
      if (p_.cluster_splits > 1) {
        meet_in_cluster(work.split);
      } else if (is_split(p_.schedule, work) && !add_splits(work, tiles)) {
        continue;
      }
      write(work);
    }
    writer_.end();
  }

 private:
  // What a group has: blocks of 64 rows, in pieces of 64 columns.
  static constexpr int kBlocks = Tile::kGroupRows / kPiece;
  static constexpr int kSums = Tile::kColumns / 2;
  static constexpr int kPiecesAcross = Tile::kColumns / kPiece;
  static constexpr int kPieces = kBlocks * kPiecesAcross;
  static constexpr int kSumsOfPiece = kPiece / 2;

 public:
  using ClusterSums = Sm90ClusterSums<kPieces, kSumsOfPiece, kSm90Multipliers>;

 private:
  __device__ int group() const { return warp_ / 4; }

  // Of 16 ks: in a piece along k 32 bytes further, else 16 lines of 128.
  __device__ static std::uint64_t operand(const char* pieces, bool is_along_k,
                                          int slice) {
    const unsigned address = shared_address(pieces);
    return is_along_k
               ? matrix_descriptor(address + slice * 32, 16, 1024)
               : matrix_descriptor(address + slice * 2048, kPieceBytes, 1024);
  }

  __device__ void multiply(const TileWork& work, int cluster) {
    int previous = 0;
    for (int step = work.k_begin; step < work.k_end; ++step) {
      const int stage = ring_.stage;
      wait(shared_.full(stage), ring_.parity);
      begin_multiply();
#pragma unroll
      for (int slice = 0; slice < kPiece / 16; ++slice) {
        const int add = step > work.k_begin || slice > 0;
        const std::uint64_t b =
            operand(shared_.b(stage), Tile::kBIsAlongK, slice);
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
          const char* const pieces =
              shared_.a(stage) + (group() * kBlocks + block) * kPieceBytes;
          multiply_add<typename Tile::Element, Tile::kColumns,
                       !Tile::kAIsAlongK, !Tile::kBIsAlongK>(
              sums_[block], operand(pieces, Tile::kAIsAlongK, slice), b, add);
        }
      }
      commit_multiply();
      if (step > work.k_begin) {
        wait_multiply<1>();
        leave(previous, cluster);
      }
      previous = stage;
      ring_.advance(p_.stages);
    }
    wait_multiply<0>();
    leave(previous, cluster);
  }

  // One arrival a warp, in each block that copies into this one's stages.
  __device__ void leave(int stage, int cluster) {
    const unsigned lane = threadIdx.x % 32;
    if (cluster == 1) {
      if (lane == 0) {
        arrive(shared_.empty(stage));
      }
    } else if (lane < static_cast<unsigned>(cluster)) {
      arrive_at(shared_.empty(stage), lane);
    }
  }

  __device__ static void sync_all() {
    asm volatile("bar.sync 1, %0;" ::"n"(kSm90Multipliers) : "memory");
  }

  // Where all splits of a tile are in this cluster: there is no other tile, so
  // sums go to where the stages were.
  __device__ void meet_in_cluster(int split) {
    sync_all();  // both groups have done with the stages
    ClusterSums(shared_.sums(), p_.cluster_splits)
        .meet(split, [&](int i) -> float& {
          return sum(i / kSumsOfPiece, i % kSumsOfPiece);
        });
  }

  __device__ float& sum(int piece, int i) {
    return sums_[piece / kPiecesAcross]
                [piece % kPiecesAcross * kSumsOfPiece + i];
  }

  // Which registers are meant has to be known beforehand.
  template <class Use>
  __device__ void with_sums(int piece, const Use& use) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (i == piece) {
        use([&](int j) { return sum(i, j); });
      }
    }
  }

  // Where splits meet in a cluster each writes a part.
  __device__ void write(const TileWork& work) {
    const int first = p_.cluster_splits > 1 ? work.split : 0;
#pragma unroll 1
    for (int piece = first; piece < kPieces; piece += p_.cluster_splits) {
      writer_.write(
          work.row_tile * Tile::kRows + group() * Tile::kGroupRows +
              piece / kPiecesAcross * kPiece,
          work.column_tile * Tile::kColumns + piece % kPiecesAcross * kPiece,
          work.batch, [&](const auto& use) { with_sums(piece, use); });
    }
  }

  __device__ void put_aside(const TileWork& work, bool is_last) {
    aside_.wait_empty();
#pragma unroll 1
    for (int piece = 0; piece < kPieces; ++piece) {
      aside_.put(work, first_row(piece / kPiecesAcross),
                 piece % kPiecesAcross * kPiece,
                 [&](const auto& use) { with_sums(piece, use); });
    }
    if (!is_last) {
      aside_.hand_over();
      return;
    }
#pragma unroll 1
    for (int block = 0; block < kBlocks; ++block) {
      aside_.write_own(work, first_row(block));
    }
  }

  // That this warp has of a block, in the tile.
  __device__ int first_row(int block) const {
    return group() * Tile::kGroupRows + block * kPiece +
           warp_ % 4 * kWarpPieceRows;
  }

  __device__ bool add_splits(const TileWork& work, const Sm90Tiles& tiles) {
    return add_up_splits<kBlocks * kSums, kSm90Multipliers>(
        p_.meeting, work.place, tiles.splits_of(work),
        [&](int i) -> float& { return sums_[i / kSums][i % kSums]; },
        [] { sync_all(); });
  }

  const Sm90Product& p_;
  const Sm90Shared<Tile>& shared_;
  int warp_;
  Sm90Ring ring_;
  Sm90Writer<Tile> writer_;
  Sm90Aside<Tile> aside_;
  float sums_[kBlocks][kSums];
};

}  // namespace tunedops::cuda
