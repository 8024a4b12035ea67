#pragma once

// From results of Gemm_Sm90 in shared memory to lines of the output that begin
// anywhere, which the copy engine cannot write: a line at a time, by words that
// begin at multiples of 4 bytes in memory, a word a lane.

#include <cstdint>

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_writer.cuh"

namespace tunedops::cuda {

/// `T`: an element, of 2 bytes. `kColumns`: of the results, a multiple of 64.
template <class T, int kColumns>
class Sm90Lines {
 public:
  /// Lines whose words are on their way at one time.
  static constexpr int kAtOnce = 512 / kColumns;

  /// `from`: results, whose rows begin `pitch` bytes apart. There is room for a
  /// word behind each.
  __device__ Sm90Lines(const TileOutput& output, unsigned from, int pitch)
      : p_(output), from_(from), pitch_(pitch) {
    static_assert(sizeof(T) == sizeof(unsigned short));
  }

  /// By a warp: `count` rows, of which the first becomes the line at `place`,
  /// which may be outside of the output with all or with some of them;
  /// kAtOnce of them from `first` on, and those that are `step` further.
  __device__ void write(const TilePlace& place, int count, int first,
                        int step) const {
    unsigned short* line = static_cast<unsigned short*>(p_.out) +
                           place.batch * p_.batch_stride +
                           (place.line + first) * p_.line_stride + place.at;
    const int left = min(p_.length - place.at, kColumns);
    const int lines = left > 0 ? min(p_.lines - place.line, count) : 0;
#pragma unroll 1
    for (int row = first; row < lines; row += step) {
      write_some(line, from_ + row * pitch_, left, lines - row);
      line += step * p_.line_stride;
    }
  }

 private:
  static constexpr int kWords = kColumns / 64;  // of a line, for each lane

  // Where a line begins at no multiple of 4 bytes its words begin at the second
  // element. Of the last one element is behind the line (what is read there is
  // room), and the first element is left to the first lane. Nothing jumps: that
  // takes longer than what there is to do.
  __device__ void write_some(unsigned short* line, unsigned from, int left,
                             int lines) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned low[kAtOnce][kWords];
    unsigned high[kAtOnce][kWords];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
      for (int j = 0; j < kWords; ++j) {
        const unsigned word = from + i * pitch_ + 4 * (32 * j + lane);
        low[i][j] = load_word(word);
        high[i][j] = load_word(word + 4);
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      unsigned short* const begin = line + i * p_.line_stride;
      const int odd =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) / 2 % 2);
      const int first = 2 * lane + odd;
      const int end = i < lines ? left : 0;
#pragma unroll
      for (int j = 0; j < kWords; ++j) {
        const unsigned word = __funnelshift_r(low[i][j], high[i][j], 16 * odd);
        store_if(first + 64 * j + 1 < end, begin + first + 64 * j, word);
        store_if(first + 64 * j + 1 == end, begin + first + 64 * j,
                 static_cast<unsigned short>(word));
      }
      store_if(odd > lane && end > 0, begin,
               static_cast<unsigned short>(low[i][0]));
    }
  }

  __device__ static void store_if(bool condition, void* to, unsigned word) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %0, 0;\n"
                 "@p st.global.u32 [%1], %2;\n"
                 "}" ::"r"(static_cast<unsigned>(condition)),
                 "l"(to), "r"(word)
                 : "memory");
  }

  __device__ static void store_if(bool condition, void* to,
                                  unsigned short element) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %0, 0;\n"
                 "@p st.global.u16 [%1], %2;\n"
                 "}" ::"r"(static_cast<unsigned>(condition)),
                 "l"(to), "h"(element)
                 : "memory");
  }

  const TileOutput& p_;
  unsigned from_;
  int pitch_;
};

}  // namespace tunedops::cuda
