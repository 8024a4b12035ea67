// The tiled loops for AVX-512; 16-bit types are widened to float.

#include "kernels/gemm/cpu/simd_avx512.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledFloat32Avx512 =
    widened_loops<SimdAvx512, float>();

constinit const TiledLoops kTiledBfloat16Avx512 =
    widened_loops<SimdAvx512, std::uint16_t>();

constinit const TiledLoops kTiledFloat16Avx512 =
    widened_loops<SimdAvx512, Half>();

}  // namespace tunedops::cpu
