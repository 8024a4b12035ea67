#pragma once

// From a strip of sums to the output: whole lines, by 4 bytes a thread,
// whatever the output is aligned to. What threads hold after a multiplication
// is scattered; so all kernels that compute tiles bring the sums of a warp into
// the order of the output in shared memory first.

#include <cstdint>

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_strip.h"

namespace tunedops::cuda {

/// Where the first row and column of a strip, or of more of them, belong.
struct TilePlace {
  int row;
  int column;
  int batch;
};

/// `T`: of the operands, and of a bias that is not float.
template <class T, class Out>
class TileWriter {
 public:
  /// `columns` of each strip: 32 or 64.
  __device__ TileWriter(const TileOutput& output, const TilePlace& place,
                        int columns)
      : p_(output), place_(place), columns_(columns),
        out_(static_cast<Out*>(output.out) +
             place.batch * output.batch_stride) {}

  /// For the whole warp. Of the strip's eight rows, row i is row
  /// `first + i * step`, counted from the place. For outputs whose rows are
  /// contiguous.
  __device__ void write_rows(const float* strip, int pitch, int first,
                             int step) const {
    const int lanes = columns_ / 2;  // of a row
    const int lane = static_cast<int>(threadIdx.x) % 32 % lanes;
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x) % 32 / lanes; i < kStripRows;
         i += 32 / lanes) {
      const int row = place_.row + first + i * step;
      if (row >= p_.rows) {
        continue;
      }
      Out* const line = out_ + row * p_.row_stride + place_.column;
      const float* const sums = strip + i * pitch;
      if constexpr (sizeof(Out) == 4) {
        write_one(line, sums, row, lane);
        write_one(line, sums, row, lane + lanes);
      } else {
        const int odd = static_cast<int>(
            reinterpret_cast<std::uintptr_t>(line) / sizeof(Out) % 2);
        const StripPair at = strip_pair(lane, odd, columns_);
        if (at.one < at.other && place_.column + at.other < p_.columns) {
          alignas(4) Out pair[2];
          round_to(pair[0], value(line + at.one, sums[at.one], row, at.one));
          round_to(pair[1],
                   value(line + at.other, sums[at.other], row, at.other));
          *reinterpret_cast<unsigned*>(line + at.one) =
              *reinterpret_cast<const unsigned*>(pair);
        } else {
          write_one(line, sums, row, at.one);
          write_one(line, sums, row, at.other);
        }
      }
    }
  }

  /// For outputs whose columns are contiguous: eight rows lie side by side.
  __device__ void write_columns(const float* strip, int pitch, int first,
                                int step) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int i = lane % kStripRows;
    const int row = place_.row + first + i * step;
    for (int column = lane / kStripRows; column < columns_;
         column += 32 / kStripRows) {
      if (row < p_.rows && place_.column + column < p_.columns) {
        Out* const target = out_ + row * p_.row_stride +
                            (place_.column + column) * p_.column_stride;
        round_to(*target,
                 value(target, strip[i * pitch + column], row, column));
      }
    }
  }

 private:
  __device__ void write_one(Out* line, const float* sums, int row,
                            int column) const {
    if (place_.column + column < p_.columns) {
      round_to(line[column], value(line + column, sums[column], row, column));
    }
  }

  __device__ float value(const Out* target, float sum, int row,
                         int column) const {
    float value = p_.alpha * sum;
    if (p_.beta != 0.0F) {
      value += p_.beta * to_float(*target);
    }
    if (p_.bias != nullptr) {
      const int at = p_.bias_is_along_rows ? row : place_.column + column;
      value += p_.bias_is_float ? static_cast<const float*>(p_.bias)[at]
                                : to_float(static_cast<const T*>(p_.bias)[at]);
    }
    return activate(p_.activation, value);
  }

  const TileOutput& p_;
  TilePlace place_;
  int columns_;
  Out* out_;
};

}  // namespace tunedops::cuda
