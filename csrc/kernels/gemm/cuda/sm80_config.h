#pragma once

// What Gemm_Sm80 supports, and with which parameters: all that can be said of
// it without a GPU, and so tested without one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/gemm/cuda/half_layout.h"
#include "kernels/gemm/cuda/split_tiles.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/config.h"
#include "tuning/status.h"

namespace tunedops::cuda {

struct Sm80Parameters {
  int tile_m = 128;
  int tile_n = 128;
  int stages = 4;
  int splits = 1;  // of k, each a block of its own
  // Whether the instruction's rows lie along m, which is contiguous in the
  // output, and not along n.
  bool turned = false;
};

/// What of it depends on the GPU.
struct Sm80Limits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 0;   // of a block
  std::size_t workspace_cap = 0;  // in bytes
};

/// How operands are copied: if lines of both are along k, both are aligned or
/// none.
HalfLayout sm80_layout(const GemmProblem& problem);

/// `_tile_128x128x32_stages_4_splitk_1_turned_0`
Config to_config(const Sm80Parameters& parameters);

Status sm80_supports(const GemmProblem& problem, const Sm80Limits& limits);

/// As many stages as let two blocks share a multiprocessor, within reason.
int sm80_usual_stages(const GemmProblem& problem,
                      const Sm80Parameters& parameters,
                      const Sm80Limits& limits);

/// All that can run and are worth a try, each tile with its usual number of
/// stages first.
std::vector<Sm80Parameters> all_sm80_parameters(const GemmProblem& problem,
                                                const Sm80Limits& limits);

/// The parameters of a config, unless it is not one that can run.
std::optional<Sm80Parameters> sm80_from_config(const GemmProblem& problem,
                                               const Sm80Limits& limits,
                                               const Config& config);

SplitTiles sm80_splits(const GemmProblem& problem,
                       const Sm80Parameters& parameters);

/// Of a block; more where operands are not aligned.
std::size_t sm80_block_bytes(const GemmProblem& problem,
                             const Sm80Parameters& parameters);

}  // namespace tunedops::cuda
