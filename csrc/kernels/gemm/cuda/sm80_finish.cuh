#pragma once

// From the sums of Gemm_Sm80 to the output. The eight rows of a strip are lines
// of the output; they are eight rows of the instruction's sums, or eight
// columns where it is turned.

#include "kernels/gemm/cuda/sm80_product.h"
#include "kernels/gemm/cuda/sm80_strip.h"
#include "kernels/gemm/cuda/tile_writer.cuh"

namespace tunedops::cuda {

/// `Tile`: see sm80_multiply.cuh.
template <class Tile>
class Sm80Finish {
 public:
  using Sums = typename Tile::Sums;

  /// `strip` is this warp's own.
  __device__ Sm80Finish(const Sm80Product& product, float* strip)
      : p_(product), strip_(strip),
        pitch_(p_.is_turned ? Tile::kWarpRows + kSm80StripRoomTurned
                            : Tile::kWarpColumns + kSm80StripRoom) {}

  /// `place`: of the warp's first sum.
  __device__ void write(const Sums& sums, const TilePlace& place) const {
    if (place.line >= p_.output.lines || place.at >= p_.output.length) {
      return;
    }
    const int strips = p_.is_turned ? kColumnStrips : kRowStrips;
    // One strip after the other by the same code, of which there is much. Only
    // which registers are meant has to be known beforehand.
#pragma unroll 1
    for (int strip = 0; strip < strips; ++strip) {
      if (p_.is_turned) {
#pragma unroll
        for (int i = 0; i < kColumnStrips; ++i) {
          if (i == strip) {
            fill_turned(sums, i);
          }
        }
      } else {
#pragma unroll
        for (int i = 0; i < kRowStrips; ++i) {
          if (i == strip) {
            fill(sums, i);
          }
        }
      }
      __syncwarp();
      if (p_.output.out_is_float) {
        empty<float>(place, strip);
      } else {
        empty<typename Tile::Element>(place, strip);
      }
      __syncwarp();
    }
  }

 private:
  static constexpr int kRowStrips = Tile::kWarpRows / kStripRows;
  static constexpr int kColumnStrips = Tile::kWarpColumns / kStripRows;

  __device__ void fill(const Sums& sums, int strip) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const row = strip_ + lane / 4 * pitch_ + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kColumnStrips; ++i) {
      *reinterpret_cast<float2*>(row + 8 * i) =
          make_float2(sums[strip][i][0], sums[strip][i][1]);
    }
  }

  __device__ void fill_turned(const Sums& sums, int strip) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const row = strip_ + lane % 4 * 2 * pitch_ + lane / 4;
#pragma unroll
    for (int i = 0; i < kRowStrips; ++i) {
      row[8 * i] = sums[i][strip][0];
      row[8 * i + pitch_] = sums[i][strip][1];
    }
  }

  template <class Out>
  __device__ void empty(const TilePlace& place, int strip) const {
    if (p_.is_turned) {
      empty<Out, Tile::kWarpRows>(place, strip);
    } else {
      empty<Out, Tile::kWarpColumns>(place, strip);
    }
  }

  template <class Out, int kColumns>
  __device__ void empty(const TilePlace& place, int strip) const {
    const TileWriter<typename Tile::Element, Out, kColumns> writer(p_.output,
                                                                   place);
    writer.write_lines(strip_, pitch_, kStripRows * strip);
  }

  const Sm80Product& p_;
  float* strip_;
  int pitch_;
};

}  // namespace tunedops::cuda
