// The tiled loops of bfloat16 for AVX-512 with bfloat16 dot products. The
// instruction takes denormals for zero.

#include "kernels/gemm/cpu/pairs_avx512bf16.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {

constinit const TiledLoops kTiledBfloat16Avx512Bf16 = {
    .transposed = tile_transposed<PairTurn>,
    .straight = tile_straight<Bfloat16Broadcast>,
    .finish = finish_parts<SimdAvx512, std::uint16_t>,
    .turn_b = turn_columns<SimdAvx512, std::uint16_t, std::uint16_t>,
    .widened_b = false};

}  // namespace tunedops::cpu
