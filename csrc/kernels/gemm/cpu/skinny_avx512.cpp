// The skinny loops for AVX-512; 16-bit types are widened to float.

#include "kernels/gemm/cpu/simd_avx512.h"
#include "kernels/gemm/cpu/skinny_broadcast.h"
#include "kernels/gemm/cpu/skinny_dot.h"

namespace tunedops::cpu {

constinit const SkinnyLoops kSkinnyFloat32Avx512 = {
    .dot = skinny_dot<WidenedDot<SimdAvx512, float>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx512, float>>,
    .widened_b = false,
};

constinit const SkinnyLoops kSkinnyBfloat16Avx512 = {
    .dot = skinny_dot<WidenedDot<SimdAvx512, std::uint16_t>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx512, std::uint16_t>>,
    .widened_b = true,
};

constinit const SkinnyLoops kSkinnyFloat16Avx512 = {
    .dot = skinny_dot<WidenedDot<SimdAvx512, Half>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdAvx512, Half>>,
    .widened_b = true,
};

}  // namespace tunedops::cpu
