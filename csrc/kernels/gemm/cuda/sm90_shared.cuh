#pragma once

// The shared memory of a block of Gemm_Sm90: a ring of stages, each a tile of
// both operands and, of those that have to be shifted, what they are before;
// strips through which sums go to the output, or results that are written
// aside; the barriers of the stages and of those results.

#include <cstddef>

#include "kernels/gemm/cuda/shared_address.cuh"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/sm90_shift.cuh"

namespace tunedops::cuda {

/// The tile that a kernel is compiled for.
template <class T, int kTileRows, int kTileColumns>
struct Sm90Shape {
  using Element = T;  // of both operands
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = kTileColumns;
};

/// All that a kernel is compiled for.
template <class Shape, bool kAAlongK, bool kBAlongK>
struct Sm90Tile : Shape {
  static constexpr int kAPieces = Shape::kRows / kPiece;
  static constexpr int kBPieces = Shape::kColumns / kPiece;
  static constexpr bool kAIsAlongK = kAAlongK;  // k is contiguous in it
  static constexpr bool kBIsAlongK = kBAlongK;
  static constexpr int kABytes = kAPieces * kPieceBytes;
  static constexpr int kBBytes = kBPieces * kPieceBytes;
  using RawA = Sm90Raw<kAIsAlongK, kAPieces>;
  using RawB = Sm90Raw<kBIsAlongK, kBPieces>;
  static constexpr int kGroupRows = Shape::kRows / 2;  // of four warps
};

template <class Tile>
class Sm90Shared {
 public:
  /// `memory` as the kernel got it.
  __device__ Sm90Shared(char* memory, const Sm90Product& p)
      : stages_(memory + kSm90Align -
                static_cast<unsigned>(__cvta_generic_to_shared(memory)) %
                    kSm90Align),
        raw_b_(Tile::kABytes + Tile::kBBytes +
               (p.a.is_aligned ? 0 : Tile::RawA::kBytes)),
        stage_bytes_(raw_b_ + (p.b.is_aligned ? 0 : Tile::RawB::kBytes)),
        strips_(stages_ + p.stages * stage_bytes_),
        barriers_(reinterpret_cast<std::uint64_t*>(
            strips_ + (p.writes_aside
                           ? sm90_results_bytes(Tile::kRows, Tile::kColumns)
                           : sm90_strips_bytes(p.strip_buffers)))),
        results_barriers_(barriers_ + kSm90Barriers * p.stages) {}

  __device__ char* a(int stage) const { return stages_ + stage * stage_bytes_; }
  __device__ char* b(int stage) const { return a(stage) + Tile::kABytes; }
  /// Not shifted yet.
  __device__ char* raw_a(int stage) const {
    return a(stage) + Tile::kABytes + Tile::kBBytes;
  }
  __device__ char* raw_b(int stage) const { return a(stage) + raw_b_; }

  /// Where stages are, when there is no more use for them.
  __device__ float* sums() const { return reinterpret_cast<float*>(stages_); }

  /// A warp's own.
  __device__ float* strip(int warp) const {
    return reinterpret_cast<float*>(strips_ + warp * kSm90StripBytes);
  }
  /// A group's own, in the same place.
  __device__ unsigned output_box(int group, int buffer) const {
    return shared_address(strips_) + (2 * buffer + group) * kPieceBytes;
  }

  /// Of a tile that is written aside, in the same place.
  __device__ const char* results() const { return strips_; }

  /// Complete when the stage's operands are there.
  __device__ std::uint64_t* full(int stage) const {
    return barriers_ + stage * kSm90Barriers;
  }
  /// Complete when all who read it have left it.
  __device__ std::uint64_t* empty(int stage) const { return full(stage) + 1; }
  /// Complete when what has to be shifted is there.
  __device__ std::uint64_t* raw_full(int stage) const {
    return full(stage) + 2;
  }

  /// Complete when results are there, and when they have been written.
  __device__ std::uint64_t* results_full() const { return results_barriers_; }
  __device__ std::uint64_t* results_empty() const {
    return results_barriers_ + 1;
  }

 private:
  char* stages_;
  int raw_b_;  // where it is in a stage
  int stage_bytes_;
  char* strips_;
  std::uint64_t* barriers_;
  std::uint64_t* results_barriers_;
};

}  // namespace tunedops::cuda
