#pragma once

// What a product takes that is cut into tiles, by a model with a dozen numbers:
// good enough to say which few of a hundred thousand algorithms deserve to be
// measured, and not meant for more. A search compares its predictions with each
// other only and corrects them as it measures.
//
// Each multiprocessor runs one block at a time, so blocks come in waves; a
// block walks along k in steps, and a step takes as long as its multiplications
// or as bringing its operands on the chip; all blocks together take at least as
// long as memory needs for the operands.

#include <cstdint>

#include "kernels/gemm/cuda/cublaslt_tiles.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

/// How an algorithm cuts a product.
struct Tiling {
  TileSize tile{128, 128};
  TileSize cluster{1, 1};
  int consumers = 1;  // groups of warps that share a tile
};

class TilingCost {
 public:
  /// `bytes_per_us` is what the memory delivers.
  TilingCost(const GemmProblem& problem, int multiprocessors,
             double bytes_per_us);

  /// Of one step of a block along k.
  double step_us(const Tiling& tiling) const;

  /// Of the whole product, k being split into so many parts.
  double total_us(const Tiling& tiling, double step_us, int splits) const;

  /// Into how many parts k can be split while all blocks run at once; 0 if they
  /// are too many without that.
  int splits_of_a_wave(const Tiling& tiling) const;

 private:
  double blocks(const Tiling& tiling) const;
  double usable(const Tiling& tiling) const;

  GemmProblem problem_;
  int multiprocessors_;
  double k_steps_;
  double memory_us_;
};

}  // namespace tunedops::cuda
