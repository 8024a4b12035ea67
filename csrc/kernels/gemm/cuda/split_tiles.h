#pragma once

// The tiles of an output, each computed by as many blocks as k is split into,
// or some by the streams that they lie in (tile_streams.h): how many blocks
// these are, and what they need to add up their sums.

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/cuda/cublaslt_tiles.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

struct SplitTiles {
  TileSize tile{};
  std::int64_t tiles = 1;  // of one matrix
  std::int64_t batch = 1;
  int splits = 1;
  // Where the splits of a tile meet, unless there is one only or a cluster adds
  // them up.
  bool meet_in_memory = false;
  int streams = 0;  // blocks, where they go through tiles in place of splits

  std::int64_t blocks() const {
    return streams > 0 ? streams : tiles * batch * splits;
  }

  /// That streams go through.
  std::int64_t streamed() const;

  /// One for each tile that is split.
  std::size_t counters() const;

  /// The sums of all splits, until they are added up.
  std::size_t workspace_bytes() const;
};

/// Whether one launch may have so many blocks, of which each split of a tile
/// has one step along k at least, and the problem lets them have what they
/// need.
bool can_split(const GemmProblem& problem, const SplitTiles& tiles,
               std::int64_t k_steps, std::size_t workspace_cap);

}  // namespace tunedops::cuda
