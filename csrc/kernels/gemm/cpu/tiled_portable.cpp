// The tiled loops for any CPU; bfloat16 is widened to float.

#include "kernels/gemm/cpu/simd_portable.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledFloat32Portable =
    widened_loops<SimdPortable, float>();

constinit const TiledLoops kTiledBfloat16Portable =
    widened_loops<SimdPortable, std::uint16_t>();

}  // namespace tunedops::cpu
