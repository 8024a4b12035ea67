#pragma once

// How a block of Gemm_Sm80 brings its part of an operand: by copies of 16 bytes
// that need no registers. Where lines are not aligned to that, copies begin at
// the multiple before, and there is one more of each line. Of memory nothing is
// read but the multiples of 16 bytes that have elements of a line, and nothing
// behind its end. What is beyond the end of k comes as zeros.

#include <cstdint>

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/sm80_product.h"
#include "kernels/gemm/cuda/sm80_raw.h"

namespace tunedops::cuda {

/// The matrix of a batch.
__device__ inline const unsigned short* sm80_matrix(const Sm80Operand& operand,
                                                    int batch) {
  return static_cast<const unsigned short*>(operand.data) +
         batch * operand.batch_stride;
}

/// How many elements behind a multiple of 16 bytes a line begins: the line of
/// that number, or one that is a multiple of eight further, and also a multiple
/// of eight elements further in it.
__device__ inline int sm80_shift(const unsigned short* matrix,
                                 const Sm80Operand& operand, int line) {
  return (static_cast<int>(reinterpret_cast<std::uintptr_t>(matrix) / 2 % 8) +
          static_cast<int>(operand.line_stride % 8) * line) &
         7;
}

/// Of one operand, step after step. `Part`: a Sm80Part or a Sm80Raw. What a
/// thread copies of a step are chunks that lie below each other.
template <class Part>
class Sm80Copier {
 public:
  /// Of the rows (or columns) from `first` on, `step` being the first step.
  __device__ Sm80Copier(const Sm80Operand& operand, int first, int step,
                        int batch)
      : p_(operand) {
    const unsigned short* const matrix = sm80_matrix(operand, batch);
    const int in_part = Units::line(thread());
    const int chunk = Units::chunk(thread());
    const int line = (Part::kIsAlongK ? first : step * kSm80StageK) + in_part;
    int element = (Part::kIsAlongK ? step * kSm80StageK : first) + 8 * chunk;
    if constexpr (Part::kIsRaw) {
      element -= sm80_shift(matrix, operand, in_part);
    }
    from_ = matrix + line * p_.line_stride + element;
    lines_left_ = p_.lines - line;
    left_ = p_.length - element;
    place_ = Part::place(in_part, 16 * chunk);
  }

  /// Begins to copy the next step's part to a stage.
  __device__ void begin(unsigned to) {
    const std::int64_t apart = Units::line_step(1) * p_.line_stride;
    const unsigned short* from = from_;
    const bool is_inside =
        left_ >= 8 && lines_left_ > Units::line_step(Units::kCount - 1);
    if (is_inside) {  // takes half as many instructions
#pragma unroll
      for (int i = 0; i < Units::kCount; ++i, from += apart) {
        begin_copy(to + place_ + Units::place_step(i), from);
      }
    } else {
      const int bytes = bytes_to_copy(left_);
#pragma unroll
      for (int i = 0; i < Units::kCount; ++i, from += apart) {
        begin_some(to + place_ + Units::place_step(i), from,
                   Units::line_step(i) < lines_left_ ? bytes : 0);
      }
    }
    if constexpr (Part::kIsRaw) {
      begin_tail(to);
    }
    if constexpr (Part::kIsAlongK) {
      from_ += kSm80StageK;
      left_ -= kSm80StageK;
    } else {
      from_ += kSm80StageK * p_.line_stride;
      lines_left_ -= kSm80StageK;
    }
  }

 private:
  using Units = Sm80Units<Part>;

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // Of no bytes, nothing has to be where they would be: so that is not named.
  __device__ void begin_some(unsigned to, const unsigned short* from,
                             int bytes) const {
    const std::uintptr_t somewhere =
        reinterpret_cast<std::uintptr_t>(p_.data) & ~std::uintptr_t{15};
    begin_copy(to, bytes == 0 ? reinterpret_cast<const void*>(somewhere) : from,
               bytes);
  }

  // The last chunk of a line.
  __device__ void begin_tail(unsigned to) const {
    const int unit = Units::tail_unit(thread());
    if (unit < Units::kCount) {
      const int lines = Units::line_step(unit);
      const int chunks = Units::kOfLine - Units::chunk(thread());
      begin_some(to + place_ + lines * Part::kPitch +
                     chunks * Part::kChunkPitch,
                 from_ + lines * p_.line_stride + 8 * chunks,
                 lines < lines_left_ ? bytes_to_copy(left_ - 8 * chunks) : 0);
    }
  }

  const Sm80Operand& p_;
  const unsigned short* from_;  // this thread's first chunk of the next step
  int lines_left_;              // from there on
  int left_;                    // elements
  int place_;
};

}  // namespace tunedops::cuda
