#pragma once

// From the sums of Gemm_Sm90 to the output, whatever is done to them there. A
// thread holds two neighbouring columns of a row of every eight; so the sums of
// a warp go through a strip of shared memory, eight rows by 64 columns at a
// time.

#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/tile_writer.cuh"

namespace tunedops::cuda {

/// `T`: of the operands.
template <class T>
class Sm90Finish {
 public:
  static constexpr int kSums = kPiece / 2;  // of a thread in a piece

  /// `strip`: this warp's own.
  __device__ Sm90Finish(const TileOutput& output, bool is_turned, float* strip)
      : p_(output), is_turned_(is_turned), strip_(strip) {}

  /// A warp's part of a piece, 16 rows by 64 columns; `place`: of the first.
  __device__ void write(const float (&sums)[kSums],
                        const TilePlace& place) const {
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      if (half == 0) {
        fill(sums, 0);
      } else {
        fill(sums, 1);
      }
      __syncwarp();
      if (p_.out_is_float) {
        empty<float>(place, 8 * half);
      } else {
        empty<T>(place, 8 * half);
      }
      __syncwarp();
    }
  }

 private:
  __device__ void fill(const float (&sums)[kSums], int half) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const line = strip_ + lane / 4 * kSm90StripPitch + 2 * (lane % 4);
#pragma unroll
    for (int i = 0; i < kPiece / 8; ++i) {
      *reinterpret_cast<float2*>(line + 8 * i) =
          make_float2(sums[4 * i + 2 * half], sums[4 * i + 2 * half + 1]);
    }
  }

  template <class Out>
  __device__ void empty(const TilePlace& place, int first) const {
    const TileWriter<T, Out, kPiece> writer(p_, place);
    if (is_turned_) {
      writer.write_across(strip_, kSm90StripPitch, first);
    } else {
      writer.write_lines(strip_, kSm90StripPitch, first);
    }
  }

  const TileOutput& p_;
  bool is_turned_;
  float* strip_;
};

}  // namespace tunedops::cuda
