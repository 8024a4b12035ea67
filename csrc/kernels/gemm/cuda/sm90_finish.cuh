#pragma once

// From the sums of Gemm_Sm90 to the output. A thread holds two neighbouring
// columns of a row of every eight; so the sums of a warp go through a strip of
// shared memory, eight rows by 64 columns at a time.

#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/tile_writer.cuh"

namespace tunedops::cuda {

/// What a group of four warps has: blocks of 64 rows, as many columns as the
/// tile.
template <class Tile>
class Sm90Finish {
 public:
  static constexpr int kBlocks = Tile::kGroupRows / kPiece;
  using Sums = float[kBlocks][Tile::kColumns / 2];

  /// Of a thread, in a strip.
  static constexpr int kSumsOfStrip = kPiece / 4;
  static constexpr int kStripsOfBlock = 2 * Tile::kColumns / kPiece;
  static constexpr int kStrips = kBlocks * kStripsOfBlock;

  using StripSums = float[kSumsOfStrip];

  /// Which of the tile's strips.
  struct Part {
    int first = 0;
    int step = 1;
    bool is_elsewhere = false;
  };

  __device__ Sm90Finish(const Sm90Product& product, float* strip)
      : p_(product), strip_(strip) {}

  /// A part of the tile, whose sums may lie elsewhere: `load(strip, sums)` gets
  /// them from there. `place`: of the group's first sum.
  template <class Load>
  __device__ void write(const Sums& sums, const TilePlace& place,
                        const Part& part, Load load) const {
    // One strip after the other by the same code, of which there is much. Only
    // which registers are meant has to be known beforehand.
#pragma unroll 1
    for (int strip = part.first; strip < kStrips; strip += part.step) {
      if (part.is_elsewhere) {
        StripSums loaded;
        load(strip, loaded);
        fill([&](int j) { return loaded[j]; });
      } else {
#pragma unroll
        for (int i = 0; i < kStrips; ++i) {
          if (i == strip) {
            fill([&](int j) { return sum_of(sums, i, j); });
          }
        }
      }
      empty(place, strip);
    }
  }

  /// The i-th sum of a strip.
  __device__ static float sum_of(const Sums& sums, int strip, int i) {
    const int in_block = strip % kStripsOfBlock;
    return sums[strip / kStripsOfBlock][in_block / 2 * kPiece / 2 + i / 2 * 4 +
                                        in_block % 2 * 2 + i % 2];
  }

 private:
  template <class Sum>
  __device__ void fill(Sum sum) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const line = strip_ + lane / 4 * kSm90StripPitch + 2 * (lane % 4);
#pragma unroll
    for (int i = 0; i < kSumsOfStrip; i += 2) {
      *reinterpret_cast<float2*>(line + 4 * i) =
          make_float2(sum(i), sum(i + 1));
    }
  }

  __device__ void empty(const TilePlace& place, int strip) const {
    const int row = strip / kStripsOfBlock * kPiece;
    const int column = strip % kStripsOfBlock / 2 * kPiece;
    const TilePlace here =
        p_.is_turned
            ? TilePlace{place.line + column, place.at + row, place.batch}
            : TilePlace{place.line + row, place.at + column, place.batch};
    __syncwarp();
    if (here.line < p_.output.lines && here.at < p_.output.length) {
      if (p_.output.out_is_float) {
        empty<float>(here, strip % 2);
      } else {
        empty<typename Tile::Element>(here, strip % 2);
      }
    }
    __syncwarp();
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
