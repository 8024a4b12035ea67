#pragma once

// How Gemm_Sm90 gets an operand into place whose lines begin at no multiples of
// 16 bytes. The copy engine brings each line from the multiple before its first
// element on, which is up to seven elements too early; from there four warps
// shift it to where the tensor cores want it.

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/sm90_product.h"

namespace tunedops::cuda {

/// Of one operand in one stage, `kPieces` pieces, how the copy engine leaves
/// it. Lines of a class are below each other, and classes; where lines are
/// along k all pieces are below each other too, else one or two are side by
/// side, with what was brought too early.
template <bool kIsAlongK, int kPieces>
struct Sm90Raw {
  static constexpr int kAcross = sm90_pieces_across(kPieces, kIsAlongK);
  static constexpr int kGroups = kIsAlongK ? 1 : kPieces / kAcross;
  static constexpr int kLinesOfClass =
      (kIsAlongK ? kPieces : 1) * kPiece / kClasses;
  static constexpr int kPitch = 2 * sm90_raw_length(kAcross);
  static constexpr int kBoxBytes = kLinesOfClass * kPitch;
  static constexpr int kGroupBytes = kClasses * kBoxBytes;
  static constexpr int kBytes = kGroups * kGroupBytes;
  static_assert(kBytes == sm90_raw_bytes(kPieces, kIsAlongK));
};

/// By warp `warp` of four: two of the eight classes. A warp shifts a line of a
/// piece at a time, a word a thread; eight of them are on their way at once.
template <bool kIsAlongK, int kPieces>
__device__ void shift_lines(const Sm90Maps& maps, unsigned raw, unsigned to,
                            int warp) {
  using Raw = Sm90Raw<kIsAlongK, kPieces>;
  constexpr int kAtOnce = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  for (int in_class = warp; in_class < kClasses; in_class += kClasses / 2) {
    const int shift = maps.shift[in_class];
    const int bits = shift % 2 * 16;
    // All addresses of a class differ by what is known to the compiler.
    const unsigned from =
        raw + in_class * Raw::kBoxBytes + shift / 2 * 4 + lane * 4;
    const unsigned place = to + in_class * kPieceLineBytes +
                           (lane / 4 ^ in_class) * 16 + lane % 4 * 4;
#pragma unroll
    for (int group = 0; group < Raw::kGroups; ++group) {
#pragma unroll
      for (int across = 0; across < Raw::kAcross; ++across) {
        const unsigned line =
            from + group * Raw::kGroupBytes + across * kPieceLineBytes;
        const unsigned piece =
            place + (group * Raw::kAcross + across) * kPieceBytes;
#pragma unroll
        for (int first = 0; first < Raw::kLinesOfClass; first += kAtOnce) {
          unsigned low[kAtOnce];
          unsigned high[kAtOnce];
#pragma unroll
          for (int i = 0; i < kAtOnce; ++i) {
            low[i] = load_word(line + (first + i) * Raw::kPitch);
          }
          if (bits != 0) {
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
              high[i] = load_word(line + (first + i) * Raw::kPitch + 4);
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
              low[i] = __funnelshift_r(low[i], high[i], 16);
            }
          }
#pragma unroll
          for (int i = 0; i < kAtOnce; ++i) {
            store_word(piece + (first + i) * kClasses * kPieceLineBytes,
                       low[i]);
          }
        }
      }
    }
  }
}

}  // namespace tunedops::cuda
