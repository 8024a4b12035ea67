// The tiled loops for AVX-512; bfloat16 is widened to float.

#include "kernels/gemm/cpu/simd_avx512.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledFloat32Avx512 =
    widened_loops<SimdAvx512, float>();

constinit const TiledLoops kTiledBfloat16Avx512 =
    widened_loops<SimdAvx512, std::uint16_t>();

}  // namespace tunedops::cpu
