#pragma once

// Eight floats in an AVX2 register, as the loops use them. Apart from what is
// here they use the compiler's own operators on vectors.

#include "kernels/gemm/cpu/skinny_product.h"

#include <immintrin.h>

#include <cstdint>

namespace tunedops::cpu {
namespace {

struct SimdAvx2 {
  using Vector = __m256;
  using Integers = std::uint32_t __attribute__((vector_size(32)));
  static constexpr int kWidth = 8;
  static constexpr int kRegisters = 16;
  static constexpr int kAccumulators = 12;

  static Vector broadcast(float x) { return _mm256_set1_ps(x); }

  static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm256_fmadd_ps(a, b, c);
  }

  /// Keeps x in a register. The compiler would rather read it from memory again
  /// for each use, and the processor reads no more than it multiplies.
  static void keep(Vector& x) { asm("" : "+x"(x)); }

  static Vector load(const float* p) { return _mm256_loadu_ps(p); }

  static Vector load_partial(const float* p, int count) {
    return _mm256_maskload_ps(p, first(count));
  }

  static void store(float* p, Vector x) { _mm256_storeu_ps(p, x); }

  static void store_partial(float* p, Vector x, int count) {
    _mm256_maskstore_ps(p, first(count), x);
  }

  // bfloat16: the upper half of a float. AVX2 has no masks for 16 bits.
  static Vector load(const std::uint16_t* p) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
  }

  template <class Element>
  static Vector load_partial(const Element* p, int count) {
    Element whole[kWidth] = {};
    for (int i = 0; i < count; ++i) {
      whole[i] = p[i];
    }
    return load(whole);
  }

  static void store(std::uint16_t* p, Vector x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow(x));
  }

  template <class Element>
  static void store_partial(Element* p, Vector x, int count) {
    Element whole[kWidth];
    store(whole, x);
    for (int i = 0; i < count; ++i) {
      p[i] = whole[i];
    }
  }

  // IEEE's 16 bits.
  static Vector load(const Half* p) {
    return _mm256_cvtph_ps(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }

  static void store(Half* p, Vector x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }

  /// The sums of four vectors. Each is summed in the same order.
  static void sum_four(const Vector* v, float* to) {
    const Vector halves =
        _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves),
                                 _mm256_extractf128_ps(halves, 1)));
  }

 private:
  static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  /// To nearest, ties to even. NaN keeps its upper half, made quiet.
  static __m128i narrow(Vector x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)),
                         odd),
        16);
    const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i words = _mm256_blendv_epi8(rounded, quiet, nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(words),
                            _mm256_extracti128_si256(words, 1));
  }
};

}  // namespace
}  // namespace tunedops::cpu
