#pragma once

// Sixteen floats in an AVX-512 register, as the skinny loops use them. Apart
// from what is here they use the compiler's own operators on vectors.

#include "kernels/gemm/cpu/skinny_product.h"

#include <immintrin.h>

#include <cstdint>

namespace tunedops::cpu {
namespace {

struct SimdAvx512 {
  using Vector = __m512;
  using Integers = std::uint32_t __attribute__((vector_size(64)));
  static constexpr int kWidth = 16;
  static constexpr int kRegisters = 32;
  static constexpr int kAccumulators = 24;

  static Vector broadcast(float x) { return _mm512_set1_ps(x); }

  static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }

  /// Keeps x in a register. The compiler would rather read it from memory again
  /// for each use, and the processor reads no more than it multiplies.
  template <class X>
  static void keep(X& x) {
    asm("" : "+v"(x));
  }

  static Vector load(const float* p) { return _mm512_loadu_ps(p); }

  static Vector load_partial(const float* p, int count) {
    return _mm512_maskz_loadu_ps(first(count), p);
  }

  static void store(float* p, Vector x) { _mm512_storeu_ps(p, x); }

  static void store_partial(float* p, Vector x, int count) {
    _mm512_mask_storeu_ps(p, first(count), x);
  }

  // bfloat16: the upper half of a float.
  static Vector load(const std::uint16_t* p) {
    return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }

  static Vector load_partial(const std::uint16_t* p, int count) {
    return widen(_mm256_maskz_loadu_epi16(first(count), p));
  }

  static void store(std::uint16_t* p, Vector x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(x));
  }

  static void store_partial(std::uint16_t* p, Vector x, int count) {
    _mm256_mask_storeu_epi16(p, first(count), narrow(x));
  }

  // IEEE's 16 bits.
  static Vector load(const Half* p) {
    return _mm512_cvtph_ps(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }

  static Vector load_partial(const Half* p, int count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), p));
  }

  static void store(Half* p, Vector x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), halves(x));
  }

  static void store_partial(Half* p, Vector x, int count) {
    _mm256_mask_storeu_epi16(p, first(count), halves(x));
  }

  /// The sums of four vectors. Each is summed in the same order.
  static void sum_four(const Vector* v, float* to) {
    const Vector low = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]),
                                     _mm512_unpackhi_ps(v[0], v[1]));
    const Vector high = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]),
                                      _mm512_unpackhi_ps(v[2], v[3]));
    const Vector quarters = _mm512_add_ps(_mm512_shuffle_ps(low, high, 0x44),
                                          _mm512_shuffle_ps(low, high, 0xee));
    const __m256 halves = _mm256_add_ps(_mm512_castps512_ps256(quarters),
                                        _mm512_extractf32x8_ps(quarters, 1));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves),
                                 _mm256_extractf128_ps(halves, 1)));
  }

  static __mmask16 first(int count) {
    return static_cast<__mmask16>((1U << count) - 1);
  }

 private:
  static Vector widen(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }

  static __m256i halves(Vector x) {
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  }

  /// To nearest, ties to even. NaN keeps its upper half, made quiet.
  static __m256i narrow(Vector x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i upper = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_srli_epi32(
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)),
                         odd),
        16);
    const __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, nan, quiet));
  }
};

}  // namespace
}  // namespace tunedops::cpu
