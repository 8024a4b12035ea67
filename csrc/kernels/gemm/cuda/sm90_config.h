#pragma once

// What Gemm_Sm90 supports, and with which parameters: all that can be said of
// it without a GPU, and so tested without one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/gemm/cuda/half_layout.h"
#include "kernels/gemm/cuda/packed_lines.h"
#include "kernels/gemm/cuda/sm90_stage.h"
#include "kernels/gemm/cuda/split_tiles.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/config.h"
#include "tuning/status.h"

namespace tunedops::cuda {

struct Sm90Parameters {
  int tile_m = 256;
  int tile_n = 128;
  int cluster_m = 1;  // tiles whose operands are copied once for all of them,
  int cluster_n = 1;  // or splits that are added up without memory;
  int cluster_k = 1;  // two of the three are 1
  int stages = 4;
  int splits = 1;  // of k, each a block of its own
  // Whether the instruction's rows, of which a tile has 128 or 256, lie along
  // m, which is contiguous in the output, and not along n. For few columns n.
  bool turned = false;
  // Whether operands that are not aligned are copied to workspace before, where
  // they are; otherwise they are shifted as they come.
  bool packed = false;
  // Whether results are written while the next tile is multiplied, where the
  // copy engine cannot write them.
  bool aside = false;
  // Stream-K: as many blocks share the steps of tiles that would leave some of
  // them idle; 0 where each computes tiles only.
  int streams = 0;
};

/// `_tile_256x128x64_cluster_1x1x1_stages_4_splitk_1_turned_0_packed_0`, with
/// `_aside_1` or `_streamk_132` where that is so.
Config to_config(const Sm90Parameters& parameters);

/// `workspace_cap` in bytes.
Status sm90_supports(const GemmProblem& problem, std::size_t workspace_cap);

/// All that can run in so much workspace.
std::vector<Sm90Parameters> all_sm90_parameters(const GemmProblem& problem,
                                                int multiprocessors,
                                                std::size_t workspace_cap);

/// The parameters of a config, unless it is not one that can run.
std::optional<Sm90Parameters> sm90_from_config(const GemmProblem& problem,
                                               std::size_t workspace_cap,
                                               const Config& config);

/// Whether it can be trusted unmeasured to beat NVIDIA's libraries: they fall
/// back to kernels that load single elements where lines are no multiples of 16
/// bytes, and take several times as long.
bool sm90_surely_wins(const GemmProblem& problem);

/// The operands as the kernel finds them: those that were packed are aligned.
HalfLayout sm90_layout(const GemmProblem& problem,
                       const Sm90Parameters& parameters);

/// An operand that is packed, but for where it is and where its copy is.
PackedLines sm90_lines_to_pack(const GemmProblem& problem,
                               const HalfLines& operand);

/// Of copies in workspace, behind what splits need there: that of `a` first,
/// each at a multiple of kSm90PackedAlign bytes.
struct Sm90Packed {
  std::size_t a_bytes = 0;
  std::size_t b_bytes = 0;
  std::size_t bytes() const { return a_bytes + b_bytes; }
};
inline constexpr std::int64_t kSm90PackedAlign = 256;
Sm90Packed sm90_packed(const GemmProblem& problem,
                       const Sm90Parameters& parameters);

/// In front of those copies.
std::size_t sm90_splits_bytes(const GemmProblem& problem,
                              const Sm90Parameters& parameters);

/// Whole clusters.
SplitTiles sm90_splits(const GemmProblem& problem,
                       const Sm90Parameters& parameters);

/// Of both operands in one stage.
std::size_t sm90_stage_bytes(const GemmProblem& problem,
                             const Sm90Parameters& parameters);

/// Whether the copy engine can write the output: as it is computed, to lines
/// that begin and end at multiples of 16 bytes.
bool sm90_writes_boxes(const GemmProblem& problem);

/// How many pieces of the output each group has shared memory for, while stages
/// have theirs: 1 or 2.
int sm90_strip_buffers(const GemmProblem& problem,
                       const Sm90Parameters& parameters);

/// Of shared memory, for results on their way to the output.
int sm90_output_bytes(const GemmProblem& problem,
                      const Sm90Parameters& parameters);

}  // namespace tunedops::cuda
