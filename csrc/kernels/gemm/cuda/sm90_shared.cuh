#pragma once

// The shared memory of a block of Gemm_Sm90: a ring of stages, each a tile of
// both operands; a strip for each warp that multiplies, through which its sums
// go to the output; the barriers of the stages.

#include <cstddef>

#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/sm90_strip.h"

namespace tunedops::cuda {

/// What a kernel is compiled for. `T`: the type of both operands.
template <class T, int kTileRows, int kTileColumns, bool kAAlongK,
          bool kBAlongK>
struct Sm90Tile {
  using Element = T;
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = kTileColumns;
  static constexpr bool kAIsAlongK = kAAlongK;  // k is contiguous in it
  static constexpr bool kBIsAlongK = kBAlongK;
  static constexpr int kABytes = kRows / kPiece * kPieceBytes;
  static constexpr int kBBytes = kColumns / kPiece * kPieceBytes;
  static constexpr int kStageBytes = kABytes + kBBytes;
};

template <class Tile>
class Sm90Shared {
 public:
  /// `memory` as the kernel got it.
  __device__ Sm90Shared(char* memory, int stages)
      : stages_(memory + kSm90Align -
                static_cast<unsigned>(__cvta_generic_to_shared(memory)) %
                    kSm90Align),
        strips_(reinterpret_cast<float*>(stages_ + stages * Tile::kStageBytes)),
        barriers_(reinterpret_cast<std::uint64_t*>(
            strips_ + kSm90Warps * kSm90StripFloats)),
        count_(stages) {}

  __device__ char* a(int stage) const {
    return stages_ + stage * Tile::kStageBytes;
  }
  __device__ char* b(int stage) const { return a(stage) + Tile::kABytes; }
  __device__ float* strip(int warp) const {
    return strips_ + warp * kSm90StripFloats;
  }
  /// Complete when the stage's operands are there.
  __device__ std::uint64_t* full(int stage) const { return barriers_ + stage; }
  /// Complete when all who read it have left it.
  __device__ std::uint64_t* empty(int stage) const {
    return barriers_ + count_ + stage;
  }

 private:
  char* stages_;
  float* strips_;
  std::uint64_t* barriers_;
  int count_;
};

}  // namespace tunedops::cuda
