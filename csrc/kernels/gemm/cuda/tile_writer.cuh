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

/// `T`: of the operands, and of a bias that is not float. `kColumns` of each
/// strip: 32 or 64.
template <class T, class Out, int kColumns>
class TileWriter {
 public:
  __device__ TileWriter(const TileOutput& output, const TilePlace& place)
      : p_(output), place_(place), out_(static_cast<Out*>(output.out) +
                                        place.batch * output.batch_stride) {}

  /// For the whole warp. The strip's eight rows are those from `first` on,
  /// counted from the place. For outputs whose rows are contiguous.
  __device__ void write_rows(const float* strip, int pitch, int first) const {
    constexpr int kLanes = kColumns / 2;  // of a row
    constexpr int kRowsAtOnce = 32 / kLanes;
    const int lane = lane_of_warp() % kLanes;
#pragma unroll 1
    for (int i = lane_of_warp() / kLanes; i < kStripRows;
         i += kRowsAtOnce * kCells / 2) {
      Cell cells[kCells];
#pragma unroll
      for (int j = 0; j < kCells; j += 2) {
        const int row = i + j / 2 * kRowsAtOnce;
        const StripPair at = columns_of(lane, place_.row + first + row);
        cells[j] = cell(first + row, at.one, strip[row * pitch + at.one]);
        cells[j + 1] =
            cell(first + row, at.other, strip[row * pitch + at.other]);
      }
      finish(cells);
#pragma unroll
      for (int j = 0; j < kCells; j += 2) {
        store(cells[j], cells[j + 1]);
      }
    }
  }

  /// For outputs whose columns are contiguous: eight rows lie side by side.
  __device__ void write_columns(const float* strip, int pitch,
                                int first) const {
    const int row = lane_of_warp() % kStripRows;
    constexpr int kColumnsAtOnce = 32 / kStripRows;
#pragma unroll 1
    for (int i = lane_of_warp() / kStripRows; i < kColumns;
         i += kColumnsAtOnce * kCells) {
      Cell cells[kCells];
#pragma unroll
      for (int j = 0; j < kCells; ++j) {
        const int column = i + j * kColumnsAtOnce;
        cells[j] = cell(first + row, column, strip[row * pitch + column]);
      }
      finish(cells);
#pragma unroll
      for (int j = 0; j < kCells; ++j) {
        store(cells[j]);
      }
    }
  }

 private:
  // How many a thread has in hand: enough that no step waits for the one
  // before, and few, since the sums are still in registers.
  static constexpr int kCells = 8;

  struct Cell {
    int row;
    int column;
    float value;
  };

  __device__ static int lane_of_warp() {
    return static_cast<int>(threadIdx.x) % 32;
  }

  // Counted from the place, and where it belongs.
  __device__ Cell cell(int row, int column, float sum) const {
    return {place_.row + row, place_.column + column, p_.alpha * sum};
  }
  __device__ bool is_inside(const Cell& x) const {
    return x.row < p_.rows && x.column < p_.columns;
  }
  __device__ Out* target(const Cell& x) const {
    return out_ + x.row * p_.row_stride + x.column * p_.column_stride;
  }

  // Two neighbours are written at once where they begin at a multiple of four
  // bytes.
  __device__ StripPair columns_of(int lane, int row) const {
    if constexpr (sizeof(Out) == 4) {
      return {lane, lane + kColumns / 2};
    } else {
      const Out* const line = out_ + row * p_.row_stride + place_.column;
      return strip_pair(
          lane,
          static_cast<int>(reinterpret_cast<std::uintptr_t>(line) /
                           sizeof(Out) % 2),
          kColumns);
    }
  }

  // All of a thread's at once, so that what is asked of the product is asked
  // once for them.
  __device__ void finish(Cell (&cells)[kCells]) const {
    if (p_.beta != 0.0F) {
#pragma unroll
      for (Cell& x : cells) {
        if (is_inside(x)) {
          x.value += p_.beta * to_float(*target(x));
        }
      }
    }
    if (p_.bias != nullptr) {
#pragma unroll
      for (Cell& x : cells) {
        if (is_inside(x)) {
          x.value += bias_of(p_.bias_is_along_rows ? x.row : x.column);
        }
      }
    }
    if (p_.activation != Activation::kNone) {
#pragma unroll
      for (Cell& x : cells) {
        x.value = activate(p_.activation, x.value);
      }
    }
  }

  __device__ float bias_of(int at) const {
    return p_.bias_is_float ? static_cast<const float*>(p_.bias)[at]
                            : to_float(static_cast<const T*>(p_.bias)[at]);
  }

  __device__ void store(const Cell& one, const Cell& other) const {
    if (sizeof(Out) == 2 && one.column < other.column && is_inside(other)) {
      alignas(4) Out pair[2];
      round_to(pair[0], one.value);
      round_to(pair[1], other.value);
      *reinterpret_cast<unsigned*>(target(one)) =
          *reinterpret_cast<const unsigned*>(pair);
    } else {
      store(one);
      store(other);
    }
  }

  __device__ void store(const Cell& x) const {
    if (is_inside(x)) {
      round_to(*target(x), x.value);
    }
  }

  const TileOutput& p_;
  TilePlace place_;
  Out* out_;
};

}  // namespace tunedops::cuda
