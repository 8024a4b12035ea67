#pragma once

// What the host says of a product to a kernel that computes the output in
// tiles, whatever the kernel is.

#include "kernels/gemm/cuda/instruction_tile.h"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/divide_up.h"
#include "tuning/plan.h"

namespace tunedops::cuda {

/// In tiles, or clusters of them, of so many m and n, and steps of so many ks.
inline TileSchedule schedule_of(const GemmProblem& p, TileSize tile,
                                bool turned, int splits, int step_k,
                                int tiles_down) {
  const TileSize tiles{static_cast<int>(divide_up(p.m, tile.m)),
                       static_cast<int>(divide_up(p.n, tile.n))};
  const auto [row_tiles, column_tiles] = to_instruction(tiles, turned);
  return TileSchedule({.row_tiles = row_tiles,
                       .column_tiles = column_tiles,
                       .batch = static_cast<int>(p.batch),
                       .splits = splits,
                       .k_steps = static_cast<int>(divide_up(p.k, step_k)),
                       .tiles_down = tiles_down});
}

/// What is known only when a run begins, but the operands.
inline void set_arguments(const GemmProblem& p, const Arguments& arguments,
                          TileOutput& output, SplitMeeting& meeting) {
  output.out = arguments.operands[kGemmOut];
  output.bias = p.has_bias() ? arguments.operands[kGemmBias] : nullptr;
  output.alpha = scalar_of(p.alpha, arguments.alpha);
  output.beta = scalar_of(p.beta, arguments.beta);
  meeting = {.partial = static_cast<float*>(arguments.workspace),
             .counters = arguments.counters};
}

}  // namespace tunedops::cuda
