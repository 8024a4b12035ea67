#pragma once

// From results of Gemm_Sm90 in shared memory to lines of the output that begin
// anywhere, which the copy engine cannot write: a line at a time, by words that
// begin at multiples of 4 bytes in memory, a word a lane.

#include <cstdint>

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_writer.cuh"
#include "kernels/gemm/cuda/warp_piece.h"

namespace tunedops::cuda {

/// `T`: an element, of 2 bytes.
template <class T>
class Sm90Lines {
 public:
  /// `strip`: this warp's own.
  __device__ Sm90Lines(const TileOutput& output, int batch, unsigned strip)
      : p_(output), strip_(strip),
        out_(static_cast<unsigned short*>(output.out) +
             batch * output.batch_stride) {
    static_assert(sizeof(T) == sizeof(unsigned short));
  }

  /// A warp's part of a piece whose rows are lines; `place`: of the first.
  __device__ void write(const TilePlace& place) const {
    unsigned short* line = out_ + place.line * p_.line_stride + place.at;
    const int left = min(p_.length - place.at, kWarpPieceColumns);
    const int lines = min(p_.lines - place.line, kWarpPieceRows);
#pragma unroll 1
    for (int first = 0; first < lines; first += kAtOnce) {
      line = write_some(line, strip_ + first * kWarpPiecePitch, left,
                        lines - first);
    }
  }

 private:
  // Lines whose words are on their way at one time.
  static constexpr int kAtOnce = 8;

  // Where a line begins at no multiple of 4 bytes its words begin at the second
  // element. Of the last one element is behind the line (what is read there is
  // room), and the first element is left to the first lane.
  __device__ unsigned short* write_some(unsigned short* line, unsigned from,
                                        int left, int lines) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned low[kAtOnce];
    unsigned high[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      low[i] = load_word(from + i * kWarpPiecePitch + 4 * lane);
      high[i] = load_word(from + i * kWarpPiecePitch + 4 * lane + 4);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (i >= lines) {
        break;
      }
      const int odd =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 2 % 2);
      const unsigned word = __funnelshift_r(low[i], high[i], 16 * odd);
      const int at = 2 * lane + odd;
      if (at + 1 < left) {
        *reinterpret_cast<unsigned*>(line + at) = word;
      } else if (at < left) {
        line[at] = static_cast<unsigned short>(word);
      }
      if (odd > lane) {
        line[0] = static_cast<unsigned short>(low[i]);
      }
      line += p_.line_stride;
    }
    return line;
  }

  const TileOutput& p_;
  unsigned strip_;
  unsigned short* out_;
};

}  // namespace tunedops::cuda
