// The skinny loops for any CPU.

#include "kernels/gemm/cpu/simd_portable.h"
#include "kernels/gemm/cpu/skinny_broadcast.h"
#include "kernels/gemm/cpu/skinny_dot.h"

namespace tunedops::cpu {

constinit const SkinnyLoops kSkinnyFloat32Portable = {
    .dot = skinny_dot<WidenedDot<SimdPortable, float>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdPortable, float>>,
    .widened_b = false,
};

constinit const SkinnyLoops kSkinnyBfloat16Portable = {
    .dot = skinny_dot<WidenedDot<SimdPortable, std::uint16_t>>,
    .broadcast =
        skinny_broadcast<WidenedBroadcast<SimdPortable, std::uint16_t>>,
    .widened_b = true,
};

constinit const SkinnyLoops kSkinnyFloat16Portable = {
    .dot = skinny_dot<WidenedDot<SimdPortable, Half>>,
    .broadcast = skinny_broadcast<WidenedBroadcast<SimdPortable, Half>>,
    .widened_b = true,
};

}  // namespace tunedops::cpu
