#pragma once

// What the skinny kernel supports, and with which parameters: all that can be
// said of it without a GPU, and so tested without one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/gemm/cuda/split_tiles.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/config.h"
#include "tuning/status.h"

namespace tunedops::cuda {

/// The most columns that it is compiled for.
inline constexpr int kMostNarrow = 32;

/// Threads of a block; registers bound it.
inline constexpr int kMostSkinnyThreads = 256;

/// Which side of a problem is the wide one, and how the operands can be read.
struct SkinnyVariant {
  bool wide_is_a = true;
  bool k_is_contiguous = true;  // in the wide operand
  bool wide_is_vector = true;   // it can be read by 16 bytes
  bool narrow_is_vector = true;
};
SkinnyVariant skinny_variant(const GemmProblem& problem);

struct SkinnyParameters {
  int rows = 16;       // of the wide side that a warp computes
  int warps_wide = 1;  // of a block, side by side along the wide side
  int warps_k = 8;     // of a block, one behind the other along k
  int splits = 1;      // of k, each a block of its own
  int cluster = 1;     // that adds them up on the chip: 1 or all of them
};

/// What of it depends on the GPU.
struct SkinnyLimits {
  int multiprocessors = 1;
  int most_cluster = 1;  // blocks
};

/// Blocks of a cluster that every GPU with clusters can have.
inline constexpr int kMostCluster = 8;

/// `_rows_16_warps_1x8_splitk_2_cluster_2`
Config to_config(const SkinnyParameters& parameters);

Status skinny_supports(const GemmProblem& problem);

/// Worth measuring, best guess first.
std::vector<SkinnyParameters> skinny_parameters(const GemmProblem& problem,
                                                const SkinnyLimits& limits);

/// All that can run, with the numbers of splits that differ enough.
std::vector<SkinnyParameters> all_skinny_parameters(const GemmProblem& problem,
                                                    const SkinnyLimits& limits);

/// Whether it can be trusted unmeasured to beat NVIDIA's libraries: they fall
/// back to old kernels where the output's rows are no whole vectors, and take
/// several times as long as reading the weights.
bool skinny_surely_wins(const GemmProblem& problem);

/// The parameters of a config, unless it is not one that can run.
std::optional<SkinnyParameters> skinny_from_config(const GemmProblem& problem,
                                                   const SkinnyLimits& limits,
                                                   const Config& config);

/// Blocks along the wide side, of one matrix.
std::int64_t skinny_tiles(const GemmProblem& problem,
                          const SkinnyParameters& parameters);

/// Length of a split: whole stages of every variant, so that vectors stay
/// aligned.
std::int64_t skinny_k_of_split(const GemmProblem& problem, int splits);

SplitTiles skinny_splits(const GemmProblem& problem,
                         const SkinnyParameters& parameters);

/// Columns that are computed for `narrow` ones: whole tiles.
constexpr int padded_narrow(int narrow) {
  return narrow <= 8 ? 8 : narrow <= 16 ? 16 : 32;
}

/// Shared memory in which a block adds up its warps' sums. A column more than
/// there are, so that neither way of walking through it meets one bank.
constexpr std::size_t skinny_shared_bytes(int warps_k, int rows, int narrow) {
  return sizeof(float) * static_cast<std::size_t>(warps_k) *
         static_cast<std::size_t>(rows) *
         static_cast<std::size_t>(padded_narrow(narrow) + 1);
}

}  // namespace tunedops::cuda
