#pragma once

// The sizes behind cuBLASLt's numbers for tiles and clusters. Its header only
// names them (`CUBLASLT_MATMUL_TILE_128x96 = 33`), and an older header names
// fewer; the numbers themselves do not change.

#include <cstdint>

namespace tunedops::cuda {

struct TileSize {
  int m = 0;  // 0: the number is not known
  int n = 0;
};

TileSize tile_size(std::uint32_t tile);

/// Numbers of clusters are below this.
inline constexpr std::uint32_t kClusterEnd = 17;

/// In blocks.
TileSize cluster_size(std::uint32_t cluster);

}  // namespace tunedops::cuda
