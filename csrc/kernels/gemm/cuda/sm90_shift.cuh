#pragma once

// How Gemm_Sm90 brings an operand that the copy engine does not take, since its
// lines begin at no multiples of 16 bytes. All that is loaded are whole 16
// bytes even so: a line's elements are shifted to their places on their way
// through registers, by as much as the line begins behind such a multiple.
// While one stage is stored, the next is being loaded.

#include <cstdint>

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/sm90_steps.cuh"

namespace tunedops::cuda {

/// The threads that bring one operand.
inline constexpr int kSm90Loaders = 128;

/// Of one operand, `kPieces` pieces of 64 lines by 64 elements in each step.
/// Eight threads have a line, each a chunk of 16 bytes; all have 16 lines at a
/// time. In the next 16, each has the chunk behind the one that it had: so
/// every thread has the first chunk of a line in one of eight times, and in
/// that also loads what follows the line's last.
template <bool kIsAlongK, int kPieces>
class Sm90Shifter {
 public:
  __device__ explicit Sm90Shifter(const Sm90Operand& operand)
      : operand_(operand) {}

  /// Begins to load what a step needs; of the tile, `first` is the first row or
  /// column.
  __device__ void load(const Sm90Step& step, int first) {
    loaded_ = window(step, first);
    const unsigned short* line = loaded_.from;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      load_chunk(line, i);
    }
#pragma unroll
    for (int i = 0; i < kFollowing; ++i) {
      load_following(i);
    }
  }

  /// Puts what was loaded into a stage and, if there is a next step, begins to
  /// load what that one needs.
  __device__ void store(unsigned to, const Sm90Step& next, int first) {
    const Window stored = loaded_;
    loaded_ = window(next, first);
    const unsigned short* line = loaded_.from;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      store_chunk(to, stored, i);
      load_chunk(line, i);
      if (i % 8 == 7 || i == kPasses - 1) {
        load_following(i / 8);
      }
    }
  }

 private:
  static constexpr int kLinesOfPass = kSm90Loaders / 8;
  static constexpr int kPassesOfPiece = kPiece / kLinesOfPass;
  static constexpr int kPasses = kPieces * kPassesOfPiece;
  static constexpr int kFollowing = (kPasses + 7) / 8;

  // What this thread has of a step.
  struct Window {
    const unsigned short* from;  // its first line, at the 16 bytes before
    int shift;                   // from there to the line's first element
    int lines;                   // that are left, from its first one on
    int length;                  // that is left of each line
  };

  __device__ static int thread() {
    return static_cast<int>(threadIdx.x) % kSm90Loaders;
  }
  __device__ static int line() { return thread() / 8; }
  // Hidden from the compiler, so that it does not keep one for each pass.
  __device__ static int chunk(int pass) {
    int thread = static_cast<int>(threadIdx.x);
    asm volatile("" : "+r"(thread));
    return (thread + pass) % 8;
  }

  __device__ Window window(const Sm90Step& step, int first) const {
    const int from_line = (kIsAlongK ? first : step.k) + line();
    const int from_element = kIsAlongK ? step.k : first;
    const unsigned short* const data =
        static_cast<const unsigned short*>(operand_.data) +
        step.batch * operand_.matrix_stride + from_line * operand_.line_stride +
        from_element;
    const int shift =
        static_cast<int>(reinterpret_cast<std::uintptr_t>(data) / 2 % 8);
    return {data - shift, shift, step.is_one ? operand_.lines - from_line : 0,
            operand_.length - from_element};
  }

  // What is different in a pass from the first one.
  __device__ static int first_line(int pass) {
    return (kIsAlongK ? pass : pass % kPassesOfPiece) * kLinesOfPass;
  }
  __device__ static int first_element(int pass) {
    return kIsAlongK ? 0 : pass / kPassesOfPiece * kPiece;
  }

  // Chunks count from the 16 bytes in which the line's window begins. What has
  // no element of the line is not read.
  __device__ uint4 load(const unsigned short* line, int pass, int chunk) const {
    const int first = 8 * chunk - loaded_.shift + first_element(pass);
    if (first_line(pass) < loaded_.lines && first < loaded_.length) {
      return __ldg(reinterpret_cast<const uint4*>(line + 8 * chunk));
    }
    return make_uint4(0, 0, 0, 0);
  }

  // Walks through this thread's lines pass by pass.
  __device__ void load_chunk(const unsigned short*& line, int pass) {
    chunks_[pass] = load(line, pass, chunk(pass));
    if (!kIsAlongK && pass % kPassesOfPiece == kPassesOfPiece - 1) {
      line = loaded_.from + first_element(pass + 1);
    } else {
      line += kLinesOfPass * operand_.line_stride;
    }
  }

  // Behind the last chunk of the line of which this thread has the first.
  __device__ void load_following(int eight) {
    const int pass = 8 * eight + (8 - thread() % 8) % 8;
    following_[eight] =
        pass < kPasses && loaded_.shift != 0
            ? load(loaded_.from + first_line(pass) * operand_.line_stride +
                       first_element(pass),
                   pass, 8)
            : make_uint4(0, 0, 0, 0);
  }

  __device__ void store_chunk(unsigned to, const Window& window, int pass) {
    const int at = chunk(pass);
    const uint4 own = chunks_[pass];
    const uint4 given = at == 0 ? following_[pass / 8] : own;
    unsigned words[8] = {own.x, own.y, own.z, own.w};
    words[4] = of_next_thread(given.x);
    words[5] = of_next_thread(given.y);
    words[6] = of_next_thread(given.z);
    words[7] = of_next_thread(given.w);
    if ((window.shift & 4) != 0) {
#pragma unroll
      for (int i = 0; i < 6; ++i) {
        words[i] = words[i + 2];
      }
    }
    if ((window.shift & 2) != 0) {
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        words[i] = words[i + 1];
      }
    }
    const int bits = window.shift % 2 * 16;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = __funnelshift_r(words[i], words[i + 1], bits);
    }
    if (kIsAlongK && window.length < kPiece) {  // others' elements are no zeros
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int left = window.length - 8 * at - 2 * i;
        words[i] = left >= 2 ? words[i] : left == 1 ? words[i] & 0xFFFF : 0;
      }
    }
    const int in_piece = pass % kPassesOfPiece * kLinesOfPass + line();
    store_words(to + pass / kPassesOfPiece * kPieceBytes + in_piece * 128 +
                    (at ^ in_piece % 8) * 16,
                words[0], words[1], words[2], words[3]);
  }

  __device__ static unsigned of_next_thread(unsigned word) {
    return __shfl_sync(0xFFFFFFFF, word, static_cast<int>(threadIdx.x) + 1, 8);
  }

  const Sm90Operand& operand_;
  Window loaded_;
  uint4 chunks_[kPasses];
  uint4 following_[kFollowing];
};

}  // namespace tunedops::cuda
