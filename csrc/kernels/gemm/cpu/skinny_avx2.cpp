// The skinny loops for AVX2 with FMA; 16-bit types are widened to float.

#include "kernels/gemm/cpu/simd_avx2.h"
#include "kernels/gemm/cpu/skinny_broadcast.h"
#include "kernels/gemm/cpu/skinny_dot.h"

namespace tunedops::cpu {

constinit const SkinnyLoops kSkinnyFloat32Avx2 = {
    .dot = skinny_dot<WidenedDot<SimdAvx2, float>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx2, float>>,
    .widened_b = false,
};

constinit const SkinnyLoops kSkinnyBfloat16Avx2 = {
    .dot = skinny_dot<WidenedDot<SimdAvx2, std::uint16_t>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx2, std::uint16_t>>,
    .widened_b = true,
};

constinit const SkinnyLoops kSkinnyFloat16Avx2 = {
    .dot = skinny_dot<WidenedDot<SimdAvx2, Half>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx2, Half>>,
    .widened_b = true,
};

}  // namespace tunedops::cpu
