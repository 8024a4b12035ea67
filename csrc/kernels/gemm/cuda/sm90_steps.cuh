#pragma once

// The steps of all tiles of a block of Gemm_Sm90, one after the other: what
// those who bring the operands walk through, across the ends of tiles.

#include "kernels/gemm/cuda/sm90_tiles.cuh"

namespace tunedops::cuda {

struct Sm90Step {
  int row = 0;  // the first of the tile
  int column = 0;
  int k = 0;
  int batch = 0;
  bool is_one = false;  // else all were walked through
};

template <int kTileRows, int kTileColumns>
class Sm90Steps {
 public:
  __device__ explicit Sm90Steps(const Sm90Product& product) : tiles_(product) {}

  __device__ const Sm90Tiles& tiles() const { return tiles_; }

  __device__ Sm90Step next() {
    if (step_ == work_.k_end) {
      if (!tiles_.next(work_)) {
        return {};
      }
      step_ = work_.k_begin;
    }
    return {work_.row_tile * kTileRows, work_.column_tile * kTileColumns,
            step_++ * kPiece, work_.batch, true};
  }

 private:
  Sm90Tiles tiles_;
  TileWork work_{};
  int step_ = 0;
};

}  // namespace tunedops::cuda
