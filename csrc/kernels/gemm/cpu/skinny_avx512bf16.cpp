// The skinny loops of bfloat16 for AVX-512 with bfloat16 dot products: one
// instruction multiplies 32 pairs of bfloat16 and adds neighbours to 16 floats,
// so no operand is widened and the arithmetic keeps up with memory at 16
// columns. The instruction takes denormals for zero.

#include "kernels/gemm/cpu/pairs_avx512bf16.h"
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

}  // namespace

constinit const SkinnyLoops kSkinnyBfloat16Avx512Bf16 = {
    .dot = skinny_dot<Bfloat16Dot>,
    .broadcast = skinny_broadcast<Bfloat16Broadcast>,
    .widened_b = false,
};

}  // namespace tunedops::cpu
