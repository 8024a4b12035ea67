#pragma once

// How a block of Gemm_Sm80 brings its part of an operand: by copies of 16, 8 or
// 4 bytes that need no registers, as the alignment of lines allows; where they
// are aligned to their elements only, by words that wait in registers while the
// stage before is multiplied. Nothing outside of a line is read. What is beyond
// the end of k comes as zeros.

#include <cstdint>

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/sm80_product.h"
#include "kernels/gemm/cuda/sm80_tile.h"

namespace tunedops::cuda {

/// Of one operand, step after step. What a thread copies of a step are units
/// that lie below each other.
template <class Part>
class Sm80Copier {
 public:
  /// Of the rows (or columns) from `first` on, `step` being the first step.
  __device__ Sm80Copier(const Sm80Operand& operand, int first, int step,
                        int batch)
      : p_(operand), data_(static_cast<const unsigned short*>(operand.data) +
                           batch * operand.batch_stride) {
    line_ = Part::kIsAlongK ? first : step * kSm80StageK;
    at_ = Part::kIsAlongK ? step * kSm80StageK : first;
    if (p_.unit == 16) {
      place_units<16>();
    } else if (p_.unit == 8) {
      place_units<8>();
    } else {
      place_units<4>();
    }
    if (is_by_words()) {
      is_odd_ = is_odd(Words::line(thread()));
      from_ -= is_odd_;
      left_ += is_odd_;
    }
  }

  /// Whether lines are copied by words, else without registers.
  __device__ bool is_by_words() const { return p_.unit == 2; }

  /// Begins to copy the next step's part to a stage.
  __device__ void begin(unsigned to) {
    if (p_.unit == 16) {
      begin_units<16>(to);
    } else if (p_.unit == 8) {
      begin_units<8>(to);
    } else if (p_.unit == 4) {
      begin_units<4>(to);
    }
  }

  /// Begins to load the words of the next step.
  __device__ void load() {
    const Sm80Word word{p_.length - left_, p_.length};
    const std::int64_t apart = Words::line_step(1) * p_.line_stride;
    const unsigned short* from = from_;
    if (word.is_whole()) {
#pragma unroll
      for (int i = 0; i < Words::kCount; ++i, from += apart) {
        words_[i] = Words::line_step(i) < lines_left_
                        ? __ldg(reinterpret_cast<const unsigned*>(from))
                        : 0;
      }
    } else {
      from += word.single() - word.at;
#pragma unroll
      for (int i = 0; i < Words::kCount; ++i, from += apart) {
        words_[i] = word.has_single() && Words::line_step(i) < lines_left_
                        ? unsigned{__ldg(from)} << word.single_shift()
                        : 0;
      }
    }
    const int thread = thread_anew();
    const int last = at_ + Part::kLength - 1;
    last_ = ends_alone(thread) && last < p_.length && line_ + thread < p_.lines
                ? __ldg(data_ + (line_ + thread) * p_.line_stride + last)
                : 0;
    at_ += Part::kIsAlongK ? kSm80StageK : 0;
    line_ += Part::kIsAlongK ? 0 : kSm80StageK;
    advance();
  }

  /// Puts them into a stage.
  __device__ void store(unsigned to) const {
    const int thread = thread_anew();
    if (is_odd_ == 0) {
#pragma unroll
      for (int i = 0; i < Words::kCount; ++i) {
        store_word(to + Words::stepped(place_, i), words_[i]);
      }
    } else {
      // In front of a line's first word is another line's place.
      const int byte = Words::byte(thread);
      const int before =
          Part::place(Words::line(thread), byte == 0 ? 0 : byte - 2);
#pragma unroll
      for (int i = 0; i < Words::kCount; ++i) {
        if (byte != 0) {
          store_element(to + Words::stepped(before, i), words_[i]);
        }
        store_element(to + Words::stepped(place_, i), words_[i] >> 16);
      }
    }
    if (ends_alone(thread)) {
      store_element(to + Part::place(thread, Part::kLineBytes - 2), last_);
    }
  }

 private:
  using Words = Sm80Units<Part, 4>;

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // The same, hidden from the compiler, so that it does not keep in registers
  // what becomes of it.
  __device__ static int thread_anew() {
    int thread = static_cast<int>(threadIdx.x);
    asm volatile("" : "+r"(thread));
    return thread;
  }

  // Where this thread's first unit is.
  template <int kUnit>
  __device__ void place_units() {
    using Units = Sm80Units<Part, kUnit>;
    const int line = Units::line(thread());
    const int byte = Units::byte(thread());
    from_ = data_ + (line_ + line) * p_.line_stride + at_ + byte / 2;
    lines_left_ = p_.lines - line_ - line;
    left_ = p_.length - at_ - byte / 2;
    place_ = Part::place(line, byte);
  }

  __device__ void advance() {
    if constexpr (Part::kIsAlongK) {
      from_ += kSm80StageK;
      left_ -= kSm80StageK;
    } else {
      from_ += kSm80StageK * p_.line_stride;
      lines_left_ -= kSm80StageK;
    }
  }

  template <int kUnit>
  __device__ void begin_units(unsigned to) {
    using Units = Sm80Units<Part, kUnit>;
    const std::int64_t apart = Units::line_step(1) * p_.line_stride;
    const unsigned short* from = from_;
    const bool is_inside =
        left_ >= kUnit / 2 && lines_left_ > Units::line_step(Units::kCount - 1);
    if (is_inside) {  // takes half as many instructions
#pragma unroll
      for (int i = 0; i < Units::kCount; ++i, from += apart) {
        begin_copy<kUnit>(to + Units::stepped(place_, i), from);
      }
    } else {
      const int bytes = bytes_to_copy(left_, kUnit);
#pragma unroll
      for (int i = 0; i < Units::kCount; ++i, from += apart) {
        begin_copy<kUnit>(to + Units::stepped(place_, i), from,
                          Units::line_step(i) < lines_left_ ? bytes : 0);
      }
    }
    advance();
  }

  // Whether a line of the part begins at an odd element: in every step, since
  // steps are an even number of elements or lines.
  __device__ int is_odd(int line) const {
    const std::int64_t elements = (line_ + line) * p_.line_stride;
    return static_cast<int>(
        (reinterpret_cast<std::uintptr_t>(data_ + elements) / 2) & 1);
  }

  // Whether this thread has to fetch the last element of the line that has its
  // number.
  __device__ bool ends_alone(int thread) const {
    return thread < Part::kLines && is_odd(thread) != 0;
  }

  const Sm80Operand& p_;
  const unsigned short* data_;
  int line_;  // where the next step's part begins
  int at_;
  const unsigned short* from_;  // this thread's first unit of it
  int lines_left_;              // from there on
  int left_;                    // elements
  int place_;
  int is_odd_ = 0;
  unsigned words_[Words::kCount];
  unsigned last_;
};

}  // namespace tunedops::cuda
