#pragma once

// Which tile a block of Gemm_Sm90 computes next. The grid is as large as the
// GPU, and its clusters walk through all tiles by turns, perhaps after a
// stretch of steps that does not end where tiles do. Where splits meet in a
// cluster it is as large as it takes: each block has one split of one tile.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_product.h"

namespace tunedops::cuda {

class Sm90Tiles {
 public:
  __device__ explicit Sm90Tiles(const Sm90Product& product)
      : p_(product), cluster_(product.cluster_rows * product.cluster_columns),
        rank_(cluster_ > 1 ? static_cast<int>(rank_in_cluster()) : 0),
        next_(first()), end_(works_of(p_.schedule)) {
    if (p_.is_streamed) {
      step_ = first_step_of(p_.streams, next_);
      stream_end_ = first_step_of(p_.streams, next_ + 1);
      next_ += p_.streams.tiles;
    }
  }

  __device__ int cluster() const { return cluster_; }
  /// Of this block in its cluster.
  __device__ int rank_row() const { return p_.cluster_rows == 2 ? rank_ : 0; }
  __device__ int rank_column() const {
    return p_.cluster_columns == 2 ? rank_ : 0;
  }

  __device__ bool next(TileWork& work) {
    const bool is_part = step_ < stream_end_;
    if (!is_part && next_ >= end_) {
      return false;
    }
    // Both, since a choice between them would cost registers that sums need.
    const TileWork part = part_at(p_.schedule, p_.streams, step_, stream_end_);
    const TileWork split = split_at(p_.schedule, next_);
    work.place = is_part ? part.place : split.place;
    work.split = split.split;
    work.k_begin = is_part ? part.k_begin : split.k_begin;
    work.k_end = is_part ? part.k_end : split.k_end;
    step_ += is_part ? work.k_end - work.k_begin : 0;
    next_ += is_part ? 0 : static_cast<int>(gridDim.x) >> (cluster_ - 1);
    find_tile(p_.schedule, work);
    work.row_tile = work.row_tile * p_.cluster_rows + rank_row();
    work.column_tile = work.column_tile * p_.cluster_columns + rank_column();
    work.place = work.place * cluster_ + rank_;
    return true;
  }

  /// Whether there was no other after the last one.
  __device__ bool is_at_end() const {
    return next_ >= end_ && step_ == stream_end_;
  }

  /// Of the tile of which `work` is a part.
  __device__ TileSplits splits_of(const TileWork& work) const {
    if (!p_.is_streamed) {
      return cuda::splits_of(p_.schedule, work);
    }
    const int tile = work.place >> (cluster_ - 1);
    TileSplits splits = cuda::splits_of(p_.schedule, p_.streams, tile, first());
    splits.first_place = splits.first_place * cluster_ + rank_;
    splits.next_place = splits.next_place * cluster_ + rank_;
    splits.distance = cluster_;
    return splits;
  }

 private:
  // The number of this cluster, of one or two blocks: that saves divisions.
  __device__ int first() const {
    return static_cast<int>(blockIdx.x) >> (cluster_ - 1);
  }

  const Sm90Product& p_;
  int cluster_;  // tiles
  int rank_;
  int next_;
  int end_;
  int step_ = 0;  // of the stream
  int stream_end_ = 0;
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
