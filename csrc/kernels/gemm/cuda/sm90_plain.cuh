#pragma once

// From the sums of Gemm_Sm90 to the output where little is done to them: the
// way that nearly all tiles take. It has code of its own since there is so
// little of it, while that for all cases (sm90_finish.cuh) is longer than what
// a multiprocessor keeps at hand, and jumping through it takes longer than all
// the rest.

#include <cstdint>

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_writer.cuh"
#include "kernels/gemm/cuda/warp_piece.h"

namespace tunedops::cuda {

/// `T`: of the operands and of the output.
template <class T>
class Sm90Plain {
 public:
  /// Of a thread in a piece: two neighbours of two rows in each eight columns.
  static constexpr int kSums = kWarpPieceColumns / 2;

  /// `strip`: this warp's own.
  __device__ Sm90Plain(const TileOutput& output, bool is_turned, int batch,
                       float* strip)
      : p_(output), is_turned_(is_turned), strip_(shared_address(strip)),
        out_(static_cast<T*>(output.out) + batch * output.batch_stride),
        is_aligned_(reinterpret_cast<std::uintptr_t>(out_) % 16 == 0 &&
                    output.line_stride % 8 == 0) {}

  /// Whether the output can be written this way.
  __device__ bool can_write() const {
    return !p_.out_is_float && p_.beta == 0.0F &&
           (p_.activation == Activation::kNone ||
            p_.activation == Activation::kRelu) &&
           (is_aligned_ || !is_turned_);
  }

  /// A warp's part of a piece, 16 rows by 64 columns; `place`: of the first.
  __device__ void write(float (&sums)[kSums], const TilePlace& place) const {
    finish(sums, place);
    fill(sums);
    __syncwarp();
    if (is_aligned_) {
      empty_aligned(place);
    } else {
      empty_unaligned(place);
    }
    __syncwarp();
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }

  __device__ void finish(float (&sums)[kSums], const TilePlace& place) const {
#pragma unroll
    for (float& sum : sums) {
      sum *= p_.alpha;
    }
    if (p_.bias != nullptr) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        const int row = i / 2 % 2 * 8 + lane() / 4;
        const int column = i / 4 * 8 + lane() % 4 * 2 + i % 2;
        const int at = place.at + (is_turned_ ? row : column);
        if (at < p_.length) {
          sums[i] += bias_of(at);
        }
      }
    }
    if (p_.activation == Activation::kRelu) {
#pragma unroll
      for (float& sum : sums) {
        sum = activate(Activation::kRelu, sum);
      }
    }
  }

  __device__ float bias_of(int at) const {
    return p_.bias_is_float ? static_cast<const float*>(p_.bias)[at]
                            : to_float(static_cast<const T*>(p_.bias)[at]);
  }

  // Two results in a word.
  __device__ static unsigned pack(float first, float second) {
    alignas(4) T both[2];
    round_to(both[0], first);
    round_to(both[1], second);
    return *reinterpret_cast<const unsigned*>(both);
  }

  __device__ void fill(const float (&sums)[kSums]) const {
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const WarpMatrix matrix = warp_matrix(time, i);
        const int at = 4 * matrix.eighth + 2 * matrix.half;
        words[i] = pack(sums[at], sums[at + 1]);
      }
      const unsigned to = strip_ + warp_piece_target(lane(), time, is_turned_);
      if (is_turned_) {
        store_matrices<true>(to, words);
      } else {
        store_matrices<false>(to, words);
      }
    }
  }

  __device__ void empty_aligned(const TilePlace& place) const {
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      const WarpChunk chunk = warp_piece_chunk(lane(), time, is_turned_);
      const int line = place.line + chunk.line;
      const int at = place.at + chunk.at;
      if (line >= p_.lines || at >= p_.length) {
        continue;
      }
      T* const to = target(line) + at;
      if (at + 8 <= p_.length) {
        *reinterpret_cast<uint4*>(to) = load_words(strip_ + chunk.byte);
      } else {
        auto* const halves = reinterpret_cast<unsigned short*>(to);
#pragma unroll 1
        for (int i = 0; i < p_.length - at; ++i) {
          halves[i] = load_element(strip_ + chunk.byte + 2 * i);
        }
      }
    }
  }

  // A line at a time, by words that begin at multiples of 4 bytes in memory.
  // Where the line does not, its first and its last element are left to the
  // last lane.
  __device__ void empty_unaligned(const TilePlace& place) const {
    const int left = min(p_.length - place.at, kWarpPieceColumns);
    const int lines = min(p_.lines - place.line, kWarpPieceRows);
#pragma unroll 4
    for (int i = 0; i < lines; ++i) {
      T* const to = target(place.line + i) + place.at;
      const unsigned from = strip_ + i * kWarpPiecePitch;
      const int odd =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / 2 % 2);
      const StripPair at = strip_pair(lane(), odd, kWarpPieceColumns);
      // What is read behind a line is room.
      const unsigned word =
          __funnelshift_r(load_word(from + 4 * lane()),
                          load_word(from + 4 * lane() + 4), 16 * odd);
      auto* const halves = reinterpret_cast<unsigned short*>(to);
      if (at.one < at.other && at.other < left) {
        *reinterpret_cast<unsigned*>(to + at.one) = word;
      } else {
        if (at.one < left) {
          halves[at.one] = static_cast<unsigned short>(word);
        }
        if (at.other < left) {
          halves[at.other] = load_element(from + 2 * at.other);
        }
      }
    }
  }

  __device__ T* target(int line) const { return out_ + line * p_.line_stride; }

  const TileOutput& p_;
  bool is_turned_;
  unsigned strip_;
  T* out_;
  bool is_aligned_;
};

}  // namespace tunedops::cuda
