// The tiled loops for any CPU; 16-bit types are widened to float.

#include "kernels/gemm/cpu/simd_portable.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledFloat32Portable =
    widened_loops<SimdPortable, float>();

constinit const TiledLoops kTiledBfloat16Portable =
    widened_loops<SimdPortable, std::uint16_t>();

constinit const TiledLoops kTiledFloat16Portable =
    widened_loops<SimdPortable, Half>();

}  // namespace tunedops::cpu
