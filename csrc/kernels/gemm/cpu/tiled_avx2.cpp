// The tiled loops for AVX2 with FMA; 16-bit types are widened to float.

#include "kernels/gemm/cpu/simd_avx2.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledFloat32Avx2 = widened_loops<SimdAvx2, float>();

constinit const TiledLoops kTiledBfloat16Avx2 =
    widened_loops<SimdAvx2, std::uint16_t>();

constinit const TiledLoops kTiledFloat16Avx2 = widened_loops<SimdAvx2, Half>();

}  // namespace tunedops::cpu
