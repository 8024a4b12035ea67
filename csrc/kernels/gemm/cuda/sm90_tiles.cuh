#pragma once

// Which tile a block of Gemm_Sm90 computes next. The grid is as large as the
// GPU, and its clusters walk through all tiles by turns. Where splits meet in a
// cluster it is as large as it takes: each block has one split of one tile.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_product.h"

namespace tunedops::cuda {

class Sm90Tiles {
 public:
  __device__ explicit Sm90Tiles(const Sm90Product& product)
      : p_(product), cluster_(product.cluster_rows * product.cluster_columns),
        rank_(cluster_ > 1 ? static_cast<int>(rank_in_cluster()) : 0),
        next_(static_cast<int>(blockIdx.x) >> (cluster_ - 1)),
        step_(static_cast<int>(gridDim.x) >> (cluster_ - 1)),
        end_(works_of(p_.schedule)) {}

  __device__ int cluster() const { return cluster_; }
  /// Of this block in its cluster.
  __device__ int rank_row() const { return p_.cluster_rows == 2 ? rank_ : 0; }
  __device__ int rank_column() const {
    return p_.cluster_columns == 2 ? rank_ : 0;
  }

  __device__ bool next(TileWork& work) {
    if (next_ >= end_) {
      return false;
    }
    work = work_of(p_.schedule, next_);
    work.row_tile = work.row_tile * p_.cluster_rows + rank_row();
    work.column_tile = work.column_tile * p_.cluster_columns + rank_column();
    work.place = work.place * cluster_ + rank_;
    next_ += step_;
    return true;
  }

  /// Whether there was no other after the last one.
  __device__ bool is_at_end() const { return next_ >= end_; }

 private:
  const Sm90Product& p_;
  int cluster_;  // tiles: one or two, which saves divisions
  int rank_;
  int next_;
  int step_;
  int end_;
};

/// The stage that comes next in a ring, and the parity of its barriers' phases.
struct Sm90Ring {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace tunedops::cuda
