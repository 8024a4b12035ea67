#pragma once

// How tiled products may be cut: which sizes of tiles, how many threads, how
// many parts of k are worth a measurement, and what loops there are for them.

#include "kernels/gemm/cpu/tiled_product.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/config.h"

#include <cstdint>
#include <vector>

namespace tunedops::cpu {

struct TiledParameters {
  int vectors;  // of rows of a strip; 0: the loops for AMX
  int rows;     // of a tile
  int columns;  // of a tile
  int threads;
  int splits;

  bool has_amx() const { return vectors == 0; }
};

/// Bytes of b that may have to be put into another form.
inline constexpr std::int64_t kMostPackedColumns = 64 << 20;

/// Of columns of b that are rearranged: how long each is, a multiple of so many
/// ks, and how many there are with AMX, which takes panels of them.
inline constexpr std::int64_t kRearrangedGrain = 64;
std::int64_t rearranged_length(std::int64_t k);
std::int64_t rearranged_columns(std::int64_t n);

std::int64_t row_tiles(const GemmProblem& problem, const TiledParameters& x);
std::int64_t tiles(const GemmProblem& problem, const TiledParameters& x);

/// A part of k.
std::int64_t k_of_split(const GemmProblem& problem, int splits);

/// All that may be chosen, for the instruction set that is used now.
std::vector<TiledParameters> tiled_parameters(const GemmProblem& problem);

Config to_config(const TiledParameters& x);

const TiledLoops& tiled_loops(const GemmProblem& problem,
                              const TiledParameters& x);

}  // namespace tunedops::cpu
