#pragma once

// From the sums of Gemm_Sm90 to the output. A thread holds two neighbouring
// columns of a row of every eight; so the sums of a warp go through a strip of
// shared memory, eight rows by 64 columns at a time.

#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/tile_writer.cuh"

namespace tunedops::cuda {

/// What a group of four warps has: blocks of 64 rows, as many columns as the
/// tile.
template <class Tile, int kBlocks>
class Sm90Finish {
 public:
  using Sums = float[kBlocks][Tile::kColumns / 2];

  __device__ Sm90Finish(const Sm90Product& product, float* strip)
      : p_(product), strip_(strip) {}

  /// `place`: of the group's first sum.
  __device__ void write(const Sums& sums, const TilePlace& place) const {
    // One strip after the other by the same code, of which there is much. Only
    // which registers are meant has to be known beforehand.
#pragma unroll 1
    for (int strip = 0; strip < kStrips; ++strip) {
      const int row = strip / kStripsOfBlock * kPiece;
      const int column = strip % kStripsOfBlock / 2 * kPiece;
      const TilePlace here =
          p_.is_turned
              ? TilePlace{place.line + column, place.at + row, place.batch}
              : TilePlace{place.line + row, place.at + column, place.batch};
      if (here.line >= p_.output.lines || here.at >= p_.output.length) {
        continue;
      }
#pragma unroll
      for (int i = 0; i < kStrips; ++i) {
        if (i == strip) {
          fill(sums[i / kStripsOfBlock], i % kStripsOfBlock);
        }
      }
      __syncwarp();
      if (p_.output.out_is_float) {
        empty<float>(here, strip % 2);
      } else {
        empty<typename Tile::Element>(here, strip % 2);
      }
      __syncwarp();
    }
  }

 private:
  static constexpr int kStripsOfBlock = 2 * Tile::kColumns / kPiece;
  static constexpr int kStrips = kBlocks * kStripsOfBlock;

  __device__ void fill(const float (&sums)[Tile::kColumns / 2],
                       int strip) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int t = 2 * (lane % 4);
    float* const line = strip_ + lane / 4 * kSm90StripPitch;
#pragma unroll
    for (int j = 0; j < kPiece / 8; ++j) {
      const int at = strip / 2 * kPiece / 2 + 4 * j + 2 * (strip % 2);
      *reinterpret_cast<float2*>(line + 8 * j + t) =
          make_float2(sums[at], sums[at + 1]);
    }
  }

  template <class Out>
  __device__ void empty(const TilePlace& place, int half) const {
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int first = 16 * warp + 8 * half;
    const TileWriter<typename Tile::Element, Out, kPiece> writer(p_.output,
                                                                 place);
    if (p_.is_turned) {
      writer.write_across(strip_, kSm90StripPitch, first);
    } else {
      writer.write_lines(strip_, kSm90StripPitch, first);
    }
  }

  const Sm90Product& p_;
  float* strip_;
};

}  // namespace tunedops::cuda
