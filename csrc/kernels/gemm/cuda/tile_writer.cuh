#pragma once

// From a strip of sums to the output. What threads hold after a multiplication
// is scattered; so all kernels that compute tiles bring the sums of a warp into
// the order of the output in shared memory first. From there they go by 16
// bytes a thread where lines begin at multiples of that, else by 4 bytes,
// whatever the output is aligned to.

#include <cstdint>

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_strip.h"

namespace tunedops::cuda {

/// Where the first element of a strip, or of more of them, belongs.
struct TilePlace {
  int line;
  int at;  // in the line
  int batch;
};

/// `T`: of the operands, and of a bias that is not float. Strips are eight by
/// `kLength`, 32 or 64. All functions are for the whole warp.
template <class T, class Out, int kLength>
class TileWriter {
 public:
  __device__ TileWriter(const TileOutput& output, const TilePlace& place)
      : p_(output), place_(place),
        out_(static_cast<Out*>(output.out) + place.batch * output.batch_stride),
        is_aligned_(is_multiple_of_16(reinterpret_cast<std::uintptr_t>(out_)) &&
                    is_multiple_of_16(output.line_stride * sizeof(Out))) {}

  /// The rows of the strip are lines, from that number on, counted from the
  /// place.
  __device__ void write_lines(const float* strip, int pitch, int first) const {
    if (is_aligned_) {
      write_aligned_lines(strip, pitch, place_.line + first);
    } else {
      write_unaligned_lines(strip, pitch, place_.line + first);
    }
  }

  /// The columns of the strip are lines, each with eight elements, from that
  /// number on, counted from the place.
  __device__ void write_across(const float* strip, int pitch, int first) const {
#pragma unroll 1
    for (int i = lane_of_warp(); i < kLength; i += 32) {
      float values[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        values[j] = strip[j * pitch + i];
      }
      write_eight(values, place_.line + i, place_.at + first);
    }
  }

 private:
  __device__ static int lane_of_warp() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  __device__ static bool is_multiple_of_16(std::uint64_t bytes) {
    return bytes % 16 == 0;
  }
  __device__ Out* target(int line) const {
    return out_ + line * p_.line_stride;
  }

  // --- By 16 bytes -----------------------------------------------------------

  __device__ void write_aligned_lines(const float* strip, int pitch,
                                      int first) const {
    constexpr int kLanes = kLength / 8;  // of a line
    const int at = lane_of_warp() % kLanes * 8;
#pragma unroll 1
    for (int i = lane_of_warp() / kLanes; i < kStripRows; i += 32 / kLanes) {
      const auto* const sums =
          reinterpret_cast<const float4*>(strip + i * pitch + at);
      const float4 low = sums[0];
      const float4 high = sums[1];
      float values[8] = {low.x,  low.y,  low.z,  low.w,
                         high.x, high.y, high.z, high.w};
      write_eight(values, first + i, place_.at + at);
    }
  }

  // Neighbours in a line.
  __device__ void write_eight(float (&values)[8], int line, int at) const {
    const int count = min(p_.length - at, 8);
    if (line >= p_.lines || count <= 0) {
      return;
    }
    Out* const to = target(line) + at;
    const bool is_whole = is_aligned_ && count == 8;
    scale(values);
    if (p_.beta != 0.0F) {
      add_eight(values, p_.beta, to, count, is_whole);
    }
    if (p_.bias != nullptr) {
      if (p_.bias_is_float) {
        add_eight(values, 1, static_cast<const float*>(p_.bias) + at, count,
                  false);
      } else {
        const T* const bias = static_cast<const T*>(p_.bias) + at;
        add_eight(values, 1, bias, count,
                  count == 8 && is_multiple_of_16(
                                    reinterpret_cast<std::uintptr_t>(bias)));
      }
    }
    activate_all(values);
    if (is_whole) {
      alignas(16) Out rounded[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        round_to(rounded[i], values[i]);
      }
#pragma unroll
      for (unsigned i = 0; i < sizeof(rounded) / 16; ++i) {
        reinterpret_cast<uint4*>(to)[i] =
            reinterpret_cast<const uint4*>(rounded)[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (i < count) {
          round_to(to[i], values[i]);
        }
      }
    }
  }

  // `is_whole`: there are eight, and they begin at a multiple of 16 bytes.
  template <class X>
  __device__ static void add_eight(float (&values)[8], float times,
                                   const X* from, int count, bool is_whole) {
    alignas(16) X all[8] = {};
    if (is_whole) {
#pragma unroll
      for (unsigned i = 0; i < sizeof(all) / 16; ++i) {
        reinterpret_cast<uint4*>(all)[i] =
            reinterpret_cast<const uint4*>(from)[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (i < count) {
          all[i] = from[i];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      values[i] += times * to_float(all[i]);
    }
  }

  // --- By 4 bytes ------------------------------------------------------------

  // A lane has two neighbours of each of some lines, in hand at one time so
  // that none waits for the one before. They are few, since the sums are still
  // in registers.
  __device__ void write_unaligned_lines(const float* strip, int pitch,
                                        int first) const {
    constexpr int kLanes = kLength / 2;  // of a line
    constexpr int kLinesAtOnce = 32 / kLanes;
    constexpr int kPairs = 4;
    const int lane = lane_of_warp() % kLanes;
#pragma unroll 1
    for (int i = lane_of_warp() / kLanes; i < kStripRows;
         i += kLinesAtOnce * kPairs) {
      Out* lines[kPairs];
      StripPair pairs[kPairs];
      float values[2 * kPairs];
      bool are_inside[2 * kPairs];
#pragma unroll
      for (int j = 0; j < kPairs; ++j) {
        const int row = i + j * kLinesAtOnce;
        lines[j] = target(first + row) + place_.at;
        pairs[j] = columns_of(lane, lines[j]);
        values[2 * j] = strip[row * pitch + pairs[j].one];
        values[2 * j + 1] = strip[row * pitch + pairs[j].other];
        const int left = first + row < p_.lines ? p_.length - place_.at : 0;
        are_inside[2 * j] = pairs[j].one < left;
        are_inside[2 * j + 1] = pairs[j].other < left;
      }
      scale(values);
      const auto column = [&](int j) {
        return j % 2 == 0 ? pairs[j / 2].one : pairs[j / 2].other;
      };
      if (p_.beta != 0.0F) {
#pragma unroll
        for (int j = 0; j < 2 * kPairs; ++j) {
          if (are_inside[j]) {
            values[j] += p_.beta * to_float(lines[j / 2][column(j)]);
          }
        }
      }
      if (p_.bias != nullptr) {
#pragma unroll
        for (int j = 0; j < 2 * kPairs; ++j) {
          if (are_inside[j]) {
            values[j] += bias_of(place_.at + column(j));
          }
        }
      }
      activate_all(values);
#pragma unroll
      for (int j = 0; j < 2 * kPairs; j += 2) {
        Out* const line = lines[j / 2];
        const StripPair& at = pairs[j / 2];
        if (sizeof(Out) == 2 && at.one < at.other && are_inside[j + 1]) {
          alignas(4) Out rounded[2];
          round_to(rounded[0], values[j]);
          round_to(rounded[1], values[j + 1]);
          *reinterpret_cast<unsigned*>(line + at.one) =
              *reinterpret_cast<const unsigned*>(rounded);
        } else {
          if (are_inside[j]) {
            round_to(line[at.one], values[j]);
          }
          if (are_inside[j + 1]) {
            round_to(line[at.other], values[j + 1]);
          }
        }
      }
    }
  }

  // Two neighbours are written at once where they begin at a multiple of four
  // bytes.
  __device__ static StripPair columns_of(int lane, const Out* line) {
    if constexpr (sizeof(Out) == 4) {
      return {lane, lane + kLength / 2};
    } else {
      return strip_pair(
          lane,
          static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 2 % 2),
          kLength);
    }
  }

  // --- Both ------------------------------------------------------------------

  template <int kCount>
  __device__ void scale(float (&values)[kCount]) const {
#pragma unroll
    for (float& value : values) {
      value *= p_.alpha;
    }
  }

  template <int kCount>
  __device__ void activate_all(float (&values)[kCount]) const {
    if (p_.activation != Activation::kNone) {
#pragma unroll
      for (float& value : values) {
        value = activate(p_.activation, value);
      }
    }
  }

  __device__ float bias_of(int at) const {
    return p_.bias_is_float ? static_cast<const float*>(p_.bias)[at]
                            : to_float(static_cast<const T*>(p_.bias)[at]);
  }

  const TileOutput& p_;
  TilePlace place_;
  Out* out_;
  bool is_aligned_;
};

}  // namespace tunedops::cuda
