#pragma once

// Square blocks of 32-bit elements turned over their diagonal, in registers: as
// many rows as a vector has elements. Each step interleaves the first half of
// the vectors with the second; after as many steps as the width has doublings,
// rows are columns.

#include <utility>

namespace tunedops::cpu {
namespace {

template <class Vector, int kWidth, int... kIndices>
inline void interleave(Vector low, Vector high, Vector* to,
                       std::integer_sequence<int, kIndices...>) {
  to[0] = __builtin_shufflevector(low, high,
                                  (kIndices / 2 + kIndices % 2 * kWidth)...);
  to[1] = __builtin_shufflevector(
      low, high, (kWidth / 2 + kIndices / 2 + kIndices % 2 * kWidth)...);
}

template <class Vector, int kWidth>
inline void transpose(Vector (&rows)[kWidth]) {
#pragma GCC unroll 8
  for (int step = 1; step < kWidth; step *= 2) {
    Vector turned[kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < kWidth / 2; ++i) {
      interleave<Vector, kWidth>(rows[i], rows[i + kWidth / 2], turned + 2 * i,
                                 std::make_integer_sequence<int, kWidth>{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) {
      rows[i] = turned[i];
    }
  }
}

}  // namespace
}  // namespace tunedops::cpu
