// The skinny loops of bfloat16 for AVX-512 with bfloat16 dot products: one
// instruction multiplies 32 pairs of bfloat16 and adds neighbours to 16 floats,
// so no operand is widened and the arithmetic keeps up with memory at 16
// columns. The instruction takes denormals for zero.

#include "kernels/gemm/cpu/simd_avx512.h"
#include "kernels/gemm/cpu/skinny_broadcast.h"
#include "kernels/gemm/cpu/skinny_dot.h"

namespace tunedops::cpu {
namespace {

struct Bfloat16Dot {
  using Simd = SimdAvx512;
  using Vector = __m512;
  using A = std::uint16_t;
  using B = std::uint16_t;
  static constexpr int kDepth = 32;

  static __m512i load(const A* p) { return _mm512_loadu_si512(p); }

  static __m512i load_b(const B* p) { return _mm512_loadu_si512(p); }

  static __m512i load_partial(const A* p, int count) {
    return _mm512_maskz_loadu_epi16((1U << count) - 1, p);
  }

  static __m512i load_b_partial(const B* p, int count) {
    return load_partial(p, count);
  }

  static Vector multiply_add(__m512i a, __m512i b, Vector sum) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a),
                            reinterpret_cast<__m512bh>(b));
  }
};

/// Two values of k at a time: runs k and k + 1 are interleaved within the
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
    const std::uint32_t odd = kLast ? 0 : p[1];
    return _mm512_castsi512_ps(
        _mm512_set1_epi32(static_cast<int>(p[0] | odd << 16)));
  }

  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a),
                            reinterpret_cast<__m512bh>(b));
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

}  // namespace

constinit const SkinnyLoops kSkinnyBfloat16Avx512Bf16 = {
    .dot = skinny_dot<Bfloat16Dot>,
    .broadcast = skinny_broadcast<Bfloat16Broadcast>,
    .widened_b = false,
};

}  // namespace tunedops::cpu
