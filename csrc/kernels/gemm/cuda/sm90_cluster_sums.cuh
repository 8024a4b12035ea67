#pragma once

// The sums of a tile whose splits are the blocks of one cluster: each has its
// own in shared memory, adds up a part of them of all blocks, and puts that
// where the block that writes it finds it. So what has to be moved between
// blocks is the same for any number of splits. Always in the order of the
// splits, so that results are the same in every run.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/shared_address.cuh"
#include "kernels/gemm/cuda/sm90_stage.h"

namespace tunedops::cuda {

/// For `kThreads` threads of each block, each with sums of its own in pieces of
/// `kSumsOfPiece`. Piece i is for block i modulo the number of splits.
template <int kPieces, int kSumsOfPiece, int kThreads>
class Sm90ClusterSums {
 public:
  /// `sums`: shared memory for all of them, at the same place in every block.
  __device__ Sm90ClusterSums(float* sums, int splits)
      : own_(reinterpret_cast<float4*>(sums) + threadIdx.x), splits_(splits) {}

  /// `sum(i)`: one of this thread's. Those of pieces that are for this block,
  /// which is number `split`, become those of all blocks; others mean nothing
  /// afterwards. All threads of the cluster have to take part: see
  /// `sync_others`.
  template <class Sum>
  __device__ void meet(int split, const Sum& sum) const {
#pragma unroll
    for (int i = 0; i < kQuarters; ++i) {
      own_[i * kThreads] = make_float4(sum(4 * i), sum(4 * i + 1),
                                       sum(4 * i + 2), sum(4 * i + 3));
    }
    sync_cluster();
    add_up(split);
    sync_cluster();
#pragma unroll
    for (int i = 0; i < kQuarters; ++i) {
      const float4 four = own_[i * kThreads];
      sum(4 * i) = four.x;
      sum(4 * i + 1) = four.y;
      sum(4 * i + 2) = four.z;
      sum(4 * i + 3) = four.w;
    }
  }

  /// For threads that have no sums.
  __device__ static void sync_others() {
    __syncwarp();
    sync_cluster();
    sync_cluster();
  }

 private:
  // Blocks whose sums are on their way at one time: more take registers that
  // those who multiply do not have.
  static constexpr int kAtOnce = kPieces * kSumsOfPiece > 96 ? 2 : 4;

  static constexpr int kQuartersOfPiece = kSumsOfPiece / 4;
  static constexpr int kQuarters = kPieces * kQuartersOfPiece;

  // Nobody but this thread reads the four that it adds up, in any block; so it
  // may write the result over them.
  __device__ void add_up(int split) const {
    const unsigned own = shared_address(own_);
#pragma unroll 1
    for (int i = split; i < kQuarters; i += splits_) {
      const unsigned at = i * kThreads * sizeof(float4);
      float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
      for (int first = 0; first < splits_; first += kAtOnce) {
        float4 parts[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          if (first + j < splits_) {
            parts[j] = load_four_from_cluster(
                address_in_cluster(own, static_cast<unsigned>(first + j)) + at);
          }
        }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          if (first + j < splits_) {
            sum.x += parts[j].x;
            sum.y += parts[j].y;
            sum.z += parts[j].z;
            sum.w += parts[j].w;
          }
        }
      }
      const int writer = i / kQuartersOfPiece % splits_;
      store_four_in_cluster(
          address_in_cluster(own, static_cast<unsigned>(writer)) + at, sum);
    }
  }

  float4* own_;
  int splits_;
};

}  // namespace tunedops::cuda
