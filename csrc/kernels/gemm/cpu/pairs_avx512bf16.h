#pragma once

// Steps along k with AVX-512's bfloat16 dot products, which multiply pairs of
// neighbouring ks and add them to a float: two values of k at a time.

#include "kernels/gemm/cpu/simd_avx512.h"

namespace tunedops::cpu {
namespace {

/// A pair of k of one column, for all elements of a vector.
template <bool kLast>
__m512 load_pair(const std::uint16_t* p) {
  const std::uint32_t odd = kLast ? 0 : p[1];
  return _mm512_castsi512_ps(
      _mm512_set1_epi32(static_cast<int>(p[0] | odd << 16)));
}

inline __m512 multiply_pairs(__m512 a, __m512 b, __m512 sum) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a),
                          reinterpret_cast<__m512bh>(b));
}

/// Of a as it lies: runs k and k + 1 are interleaved within the
/// 128-bit lanes, and the sums put in order once, at the end.
struct Bfloat16Broadcast {
  using Simd = SimdAvx512;
  using Vector = __m512;
  using A = std::uint16_t;
  using B = std::uint16_t;
  static constexpr int kDepth = 2;
  static constexpr int kVectors = 2;
  static constexpr int kRows = 32;

  template <bool kPartial, bool kLast>
  static void load(const A* p, std::int64_t lda, int rows, Vector* to) {
    const auto run = [rows](const A* from) {
      return kPartial ? _mm512_maskz_loadu_epi16((1U << rows) - 1, from)
                      : _mm512_loadu_si512(from);
    };
    const __m512i even = run(p);
    const __m512i odd = kLast ? _mm512_setzero_si512() : run(p + lda);
    to[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(even, odd));
    to[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(even, odd));
  }

  template <bool kLast>
  static Vector load_b(const B* p) {
    return load_pair<kLast>(p);
  }

  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return multiply_pairs(a, b, sum);
  }

  static void reorder(Vector* x) {
    const Vector low = x[0];
    const Vector high = x[1];
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6,
                                            7, 20, 21, 22, 23);
    const __m512i second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12,
                                             13, 14, 15, 28, 29, 30, 31);
    x[0] = _mm512_permutex2var_ps(low, first, high);
    x[1] = _mm512_permutex2var_ps(low, second, high);
  }
};

/// Of pairs that lie side by side, one of each row.
struct TurnedPairs {
  using Simd = SimdAvx512;
  using Vector = __m512;
  using A = float;  // a pair
  using B = std::uint16_t;
  static constexpr int kDepth = 2;
  static constexpr int kVectors = 1;
  static constexpr int kRows = Simd::kWidth;

  template <bool kPartial, bool kLast>
  static void load(const A* p, std::int64_t, int, Vector* to) {
    to[0] = Simd::load(p);
  }

  template <bool kLast>
  static Vector load_b(const B* p) {
    return load_pair<kLast>(p);
  }

  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return multiply_pairs(a, b, sum);
  }

  static void reorder(Vector*) {}
};

/// Turns runs of k over, to pairs.
struct PairTurn {
  using Simd = SimdAvx512;
  using Vector = __m512;
  using A = std::uint16_t;
  using Step = TurnedPairs;
  static constexpr int kDepth = 32;
  static constexpr int kLines = 16;

  static Vector load(const A* p, std::int64_t count) {
    return _mm512_castsi512_ps(
        count >= kDepth ? _mm512_loadu_si512(p)
                        : _mm512_maskz_loadu_epi16((1U << count) - 1, p));
  }
};

}  // namespace
}  // namespace tunedops::cpu
