#pragma once

// From the sums of Gemm_Sm90 to the output. A thread holds two neighbouring
// columns of a row, or what lies eight apart where operands are by class; so
// the sums of a warp go through a strip of shared memory, eight rows by 64
// columns at a time, and leave it in the order of the output: whole lines, by 4
// bytes a thread, whatever the output is aligned to.

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/sm90_strip.h"

namespace tunedops::cuda {

/// Where 64 rows by 64 columns of sums belong.
struct Sm90Place {
  int row;
  int column;
  int batch;
};

template <class T, class Out>
class Sm90Writer {
 public:
  __device__ Sm90Writer(const Sm90Product& product, const Sm90Place& place)
      : p_(product), place_(place), out_(static_cast<Out*>(product.out) +
                                         place.batch * product.batch_stride) {}

  /// Of the strip's eight rows, row i is row `first + i * step` of the 64.
  __device__ void write(const float* strip, int pitch, int first,
                        int step) const {
    if (p_.column_stride == 1) {
      write_rows(strip, pitch, first, step);
    } else {
      write_columns(strip, pitch, first, step);
    }
  }

 private:
  __device__ void write_rows(const float* strip, int pitch, int first,
                             int step) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 2
    for (int i = 0; i < kSm90StripRows; ++i) {
      const int row = place_.row + first + i * step;
      if (row >= p_.rows) {
        continue;
      }
      Out* const line = out_ + row * p_.row_stride + place_.column;
      const float* const sums = strip + i * pitch;
      if constexpr (sizeof(Out) == 4) {
        write_one(line, sums, row, lane);
        write_one(line, sums, row, lane + 32);
      } else {
        // Pairs begin at multiples of 4 bytes; the first and the last element
        // of a line that does not are the last lane's.
        const int odd = static_cast<int>(
            reinterpret_cast<std::uintptr_t>(line) / sizeof(Out) % 2);
        const int one = 2 * lane + odd;
        const int other = (one + 1) % kPiece;
        if (one < other && place_.column + other < p_.columns) {
          alignas(4) Out pair[2];
          round_to(pair[0], value(line + one, sums[one], row, one));
          round_to(pair[1], value(line + other, sums[other], row, other));
          *reinterpret_cast<unsigned*>(line + one) =
              *reinterpret_cast<const unsigned*>(pair);
        } else {
          write_one(line, sums, row, one);
          write_one(line, sums, row, other);
        }
      }
    }
  }

  __device__ void write_one(Out* line, const float* sums, int row,
                            int column) const {
    if (place_.column + column < p_.columns) {
      round_to(line[column], value(line + column, sums[column], row, column));
    }
  }

  // Of a transposed product, which is narrow: eight rows lie side by side.
  __device__ void write_columns(const float* strip, int pitch, int first,
                                int step) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int i = lane % kSm90StripRows;
    const int row = place_.row + first + i * step;
    for (int column = lane / kSm90StripRows; column < kPiece;
         column += 32 / kSm90StripRows) {
      if (row < p_.rows && place_.column + column < p_.columns) {
        Out* const target = out_ + row * p_.row_stride +
                            (place_.column + column) * p_.column_stride;
        round_to(*target,
                 value(target, strip[i * pitch + column], row, column));
      }
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

  const Sm90Product& p_;
  Sm90Place place_;
  Out* out_;
};

/// What a group of four warps has: blocks of 64 rows, as many columns as the
/// tile. Operands whose lines are rows or columns and are by class give those
/// in another order.
template <class Tile, int kBlocks>
class Sm90Finish {
 public:
  using Sums = float[kBlocks][Tile::kColumns / 2];

  __device__ Sm90Finish(const Sm90Product& product, float* strip)
      : p_(product), strip_(strip),
        rows_by_class_(Tile::kAIsAlongK && product.a.is_by_class != 0),
        columns_by_class_(Tile::kBIsAlongK && product.b.is_by_class != 0),
        pitch_(columns_by_class_ ? kSm90StripPitchByClass : kSm90StripPitch) {}

  /// `first` is where the first of them belongs.
  __device__ void write(const Sums& sums, const Sm90Place& first) const {
    // One strip after the other by the same code, of which there is much. Only
    // which registers are meant has to be known beforehand.
#pragma unroll 1
    for (int strip = 0; strip < kStrips; ++strip) {
#pragma unroll
      for (int i = 0; i < kStrips; ++i) {
        if (i == strip) {
          fill(sums[i / kStripsOfBlock], i % kStripsOfBlock);
        }
      }
      __syncwarp();
      const Sm90Place place{first.row + strip / kStripsOfBlock * kPiece,
                            first.column + strip % kStripsOfBlock / 2 * kPiece,
                            first.batch};
      if (place.column < p_.columns) {
        if (p_.out_is_float) {
          empty<float>(place, strip % 2);
        } else {
          empty<typename Tile::Element>(place, strip % 2);
        }
      }
      __syncwarp();
    }
  }

 private:
  static constexpr int kStripsOfBlock = 2 * Tile::kColumns / kPiece;
  static constexpr int kStrips = kBlocks * kStripsOfBlock;

  __device__ void fill(const float (&sums)[Tile::kColumns / 2],
                       int strip) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int t = 2 * (lane % 4);
    float* const line = strip_ + lane / 4 * pitch_;
#pragma unroll
    for (int j = 0; j < kPiece / 8; ++j) {
      const int at = strip / 2 * kPiece / 2 + 4 * j + 2 * (strip % 2);
      if (columns_by_class_) {
        line[8 * t + j] = sums[at];
        line[8 * t + 8 + j] = sums[at + 1];
      } else {
        *reinterpret_cast<float2*>(line + 8 * j + t) =
            make_float2(sums[at], sums[at + 1]);
      }
    }
  }

  template <class Out>
  __device__ void empty(const Sm90Place& place, int half) const {
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const Sm90Writer<typename Tile::Element, Out> writer(p_, place);
    if (rows_by_class_) {
      writer.write(strip_, pitch_, 2 * warp + half, kClasses);
    } else {
      writer.write(strip_, pitch_, 16 * warp + 8 * half, 1);
    }
  }

  const Sm90Product& p_;
  float* strip_;
  bool rows_by_class_;
  bool columns_by_class_;
  int pitch_;
};

}  // namespace tunedops::cuda
