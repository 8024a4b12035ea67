#pragma once

// Which tile a block of Gemm_Sm90 computes next. The grid is as large as the
// GPU, and its clusters walk through all tiles by turns: the splits of a tile
// first, which run side by side; then a few tiles down and all across, so that
// the operands of those that run at one time are few enough for the cache.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_product.h"

namespace tunedops::cuda {

/// One split of one tile.
struct Sm90Work {
  int row_tile;
  int column_tile;
  int split;
  int batch;
  int k_begin;  // in steps
  int k_end;
  int place;  // of the tile among all
};

class Sm90Tiles {
 public:
  __device__ explicit Sm90Tiles(const Sm90Product& product)
      : p_(product), cluster_(product.cluster_rows * product.cluster_columns),
        rank_(cluster_ > 1 ? static_cast<int>(rank_in_cluster()) : 0),
        next_(static_cast<int>(blockIdx.x) / cluster_),
        step_(static_cast<int>(gridDim.x) / cluster_),
        end_(p_.row_tiles * p_.column_tiles * p_.splits * p_.batch) {}

  __device__ int cluster() const { return cluster_; }
  /// Of this block in its cluster.
  __device__ int rank_row() const { return rank_ % p_.cluster_rows; }
  __device__ int rank_column() const { return rank_ / p_.cluster_rows; }

  __device__ bool next(Sm90Work& work) {
    if (next_ >= end_) {
      return false;
    }
    const int tiles = p_.row_tiles * p_.column_tiles;
    work.split = next_ % p_.splits;
    const int tile_of_all = next_ / p_.splits;
    work.batch = tile_of_all / tiles;
    const int tile = tile_of_all % tiles;
    const int group = max(kGroup / p_.cluster_rows, 1);
    const int first_row = tile / (group * p_.column_tiles) * group;
    const int rows = min(p_.row_tiles - first_row, group);
    const int in_group = tile % (group * p_.column_tiles);
    work.row_tile =
        (first_row + in_group % rows) * p_.cluster_rows + rank_row();
    work.column_tile = in_group / rows * p_.cluster_columns + rank_column();
    work.k_begin = first_step(work.split);
    work.k_end = first_step(work.split + 1);
    work.place = tile_of_all * cluster_ + rank_;
    next_ += step_;
    return true;
  }

 private:
  static constexpr int kGroup = 8;  // tiles down

  __device__ int first_step(int split) const {
    return static_cast<int>(static_cast<std::int64_t>(p_.k_steps) * split /
                            p_.splits);
  }

  const Sm90Product& p_;
  int cluster_;
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
