#include "kernels/gemm/cuda/cublaslt_family_config.h"

#include <algorithm>
#include <cmath>

namespace tunedops::cuda {
namespace {

using enum CublasltAttribute;

// Stages from here on are chosen by the library.
constexpr std::uint32_t kFirstAutomaticStages = 32;

// Of cluster numbers; 0 leaves the shape to the library.
constexpr std::uint32_t kFirstCluster = 2;
constexpr std::uint32_t kLastCluster = 10;  // 4x4; larger ones are declined

// Bits of the custom option in families with clusters, as which combinations
// are accepted and how fast they are shows: whether m is the side of a tile
// that is made of multiples of 64 (else n is), and whether two groups of warps
// share a tile. The bit between them turns the direction in which tiles are
// walked through.
constexpr std::uint32_t kWideAlongM = 1;
constexpr std::uint32_t kSharedTile = 4;

// The wide side consists of these; half of one needs an even other side.
constexpr int kWideSide = 64;
constexpr int kOtherSideOfHalf = 16;

// The sums that the registers of a group of warps hold.
constexpr int kMostElements = 64 * 352;

// How alike algorithms are: a step of the coordinate of a tile is a factor of
// 1.2, of a split one of 1.4. The options of a tiling change a time by one or
// two hundredths, half of what such steps do.
constexpr float kPerTileDoubling = 4;
constexpr float kPerSplitDoubling = 2.2F;
constexpr float kPerOption = 0.5F;
constexpr float kPerStage = 0.5F;
constexpr float kPerFamily = 2;

float log2_of(int value) {
  return std::log2(static_cast<float>(std::max(value, 1)));
}

bool launches_clusters(std::uint32_t stages) {
  return stages >= kFirstAutomaticStages;
}

bool fits_registers(TileSize tile, std::uint32_t custom) {
  const bool is_wide_along_m = (custom & kWideAlongM) != 0;
  const int wide = is_wide_along_m ? tile.m : tile.n;
  const int other = is_wide_along_m ? tile.n : tile.m;
  if (wide == 0 || wide % kWideSide != 0) {
    return false;
  }
  if ((custom & kSharedTile) == 0) {
    return wide * other <= kMostElements;
  }
  return wide * other <= 2 * kMostElements &&
         (wide / kWideSide % 2 == 0 || other % kOtherSideOfHalf == 0);
}

}  // namespace

bool has_clusters(const CublasltFamily& family) {
  return std::all_of(family.stages.begin(), family.stages.end(),
                     launches_clusters);
}

std::vector<CublasltConfig> unsplit_configs(const CublasltFamily& family) {
  std::vector<CublasltConfig> configs;
  CublasltConfig config;
  config.id = family.id;
  config[kSplitK] = 1;
  // The last attribute differs fastest: a swizzle, or a cluster.
  const bool clusters = has_clusters(family);
  const CublasltAttribute last = clusters ? kCluster : kSwizzle;
  const std::uint32_t begin = clusters ? kFirstCluster : 0;
  const std::uint32_t end =
      clusters ? kLastCluster : (family.has_swizzles ? 1 : 0);
  for (const std::uint32_t tile : family.tiles) {
    for (std::uint32_t custom = 0; custom <= family.most_custom; ++custom) {
      if (clusters && !fits_registers(tile_size(tile), custom)) {
        continue;
      }
      config[kTile] = tile;
      config[kCustom] = custom;
      for (const std::uint32_t stages : family.stages) {
        config[kStages] = stages;
        for (std::uint32_t value = begin; value <= end; ++value) {
          config[last] = value;
          configs.push_back(config);
        }
      }
    }
  }
  return configs;
}

Tiling tiling_of(const CublasltConfig& config) {
  Tiling tiling;
  if (const TileSize tile = tile_size(config[kTile]); tile.m > 0) {
    tiling.tile = tile;
  }
  if (const TileSize cluster = cluster_size(config[kCluster]); cluster.m > 0) {
    tiling.cluster = cluster;
  }
  if (launches_clusters(config[kStages]) &&
      (config[kCustom] & kSharedTile) != 0) {
    tiling.consumers = 2;
  }
  return tiling;
}

// Kernels that split k are others, however often they split it.
std::uint64_t code_of(const CublasltConfig& config) {
  std::uint64_t code = 1;
  const auto add = [&code](std::uint64_t value, std::uint64_t end) {
    code = code * end + value;
  };
  add(static_cast<std::uint64_t>(config.id), 1 << 10);
  add(config[kTile], 1 << 12);
  add(config[kStages], 1 << 8);
  add(config[kCustom], 1 << 8);
  add(config[kCluster], 1 << 8);
  add(config[kSplitK] > 1 ? 1 : 0, 2);
  return code;
}

Coordinates coordinates_of(const CublasltConfig& config) {
  const Tiling tiling = tiling_of(config);
  const std::uint32_t custom = config[kCustom];
  const auto bit = [custom](int place) {
    return kPerOption * static_cast<float>(custom >> place & 1);
  };
  return {kPerTileDoubling * log2_of(tiling.tile.m),
          kPerTileDoubling * log2_of(tiling.tile.n),
          log2_of(tiling.cluster.m),
          log2_of(tiling.cluster.n),
          kPerSplitDoubling * log2_of(static_cast<int>(config[kSplitK])),
          bit(0),
          bit(1),
          bit(2),
          static_cast<float>(custom >> 3),
          kPerStage * static_cast<float>(config[kStages]),
          kPerFamily * static_cast<float>(config.id),
          log2_of(static_cast<int>(config[kReduction]) + 1) +
              static_cast<float>(config[kSwizzle])};
}

}  // namespace tunedops::cuda
