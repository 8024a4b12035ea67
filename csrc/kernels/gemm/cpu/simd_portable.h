#pragma once

// Four floats in a vector that GCC and Clang turn into whatever the
// architecture's baseline has (SSE2, NEON).

#include "kernels/gemm/cpu/half.h"

#include <cstdint>
#include <cstring>

namespace tunedops::cpu {
namespace {

struct SimdPortable {
  using Vector = float __attribute__((vector_size(16)));
  using Integers = std::uint32_t __attribute__((vector_size(16)));

  using Halves = std::uint16_t __attribute__((vector_size(8)));
  static constexpr int kWidth = 4;
  static constexpr int kRegisters = 16;  // SSE2's
  static constexpr int kAccumulators = 12;

  static Vector broadcast(float x) { return Vector{x, x, x, x}; }

  static Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }

  static void keep(Vector&) {}

  static Vector load(const float* p) {
    Vector x;
    std::memcpy(&x, p, sizeof(x));
    return x;
  }

  static void store(float* p, Vector x) { std::memcpy(p, &x, sizeof(x)); }

  // bfloat16: the upper half of a float.
  static Vector load(const std::uint16_t* p) {
    Halves x;
    std::memcpy(&x, p, sizeof(x));
    return reinterpret_cast<Vector>(__builtin_convertvector(x, Integers) << 16);
  }

  /// Rounds to nearest, ties to even. NaN keeps its upper half, made quiet.
  static void store(std::uint16_t* p, Vector x) {
    const Integers bits = reinterpret_cast<Integers>(x);
    const Integers upper = bits >> 16;
    const Integers rounded = (bits + 0x7fff + (upper & 1)) >> 16;
    const Halves halves =
        __builtin_convertvector(x == x ? rounded : upper | 0x40, Halves);
    std::memcpy(p, &halves, sizeof(halves));
  }

  // IEEE's 16 bits.
  static Vector load(const Half* p) {
    return Vector{to_float(p[0]), to_float(p[1]), to_float(p[2]),
                  to_float(p[3])};
  }

  static void store(Half* p, Vector x) {
    for (int i = 0; i < kWidth; ++i) {
      p[i] = to_half(x[i]);
    }
  }

  template <class Element>
  static Vector load_partial(const Element* p, int count) {
    Element whole[kWidth] = {};
    for (int i = 0; i < count; ++i) {
      whole[i] = p[i];
    }
    return load(whole);
  }

  template <class Element>
  static void store_partial(Element* p, Vector x, int count) {
    Element whole[kWidth];
    store(whole, x);
    for (int i = 0; i < count; ++i) {
      p[i] = whole[i];
    }
  }

  static void sum_four(const Vector* v, float* to) {
    for (int i = 0; i < 4; ++i) {
      to[i] = (v[i][0] + v[i][2]) + (v[i][1] + v[i][3]);
    }
  }
};

}  // namespace
}  // namespace tunedops::cpu
