#include "kernels/gemm/cuda/cublaslt_family.h"

#include <algorithm>
#include <array>

#include "backends/cuda/check.h"

namespace tunedops::cuda {
namespace {

using enum CublasltAttribute;

constexpr int kMostFamilies = 256;

// Stages from here on are chosen by the library; families that have only those
// are the ones that launch clusters.
constexpr std::uint32_t kFirstAutomaticStages = 32;

// Clusters from here on have a shape; 0 leaves it to the library.
constexpr std::uint32_t kFirstCluster = 2;

// Bits of the custom option in families with clusters, as measurements show:
// whether m is the side of a tile that is made of multiples of 64 (else n is),
// and whether two groups of warps share a tile. The bit between them turns the
// direction in which tiles are walked through.
constexpr std::uint32_t kWideAlongM = 1;
constexpr std::uint32_t kSharedTile = 4;
constexpr int kWideSide = 64;

template <class Value>
Value capability(const cublasLtMatmulAlgo_t& algorithm,
                 cublasLtMatmulAlgoCapAttributes_t attribute) {
  Value value{};
  std::size_t written = 0;
  return cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value,
                                           sizeof(value),
                                           &written) == CUBLAS_STATUS_SUCCESS
             ? value
             : Value{};
}

// Of tiles or stages; 0 if the family leaves no choice.
std::vector<std::uint32_t>
choices(const cublasLtMatmulAlgo_t& algorithm,
        cublasLtMatmulAlgoCapAttributes_t attribute) {
  std::size_t bytes = 0;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, nullptr, 0,
                                        &bytes) != CUBLAS_STATUS_SUCCESS ||
      bytes == 0) {
    return {0};
  }
  std::vector<std::uint32_t> values(bytes / sizeof(std::uint32_t));
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulAlgoCapGetAttribute(
      &algorithm, attribute, values.data(), bytes, &bytes));
  return values;
}

CublasltFamily read_family(const cublasLtMatmulAlgo_t& algorithm, int id) {
  CublasltFamily family;
  family.id = id;
  family.tiles = choices(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS);
  family.stages = choices(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS);
  family.most_custom = static_cast<std::uint32_t>(
      std::max(0, capability<std::int32_t>(
                      algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX)));
  if (capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) !=
      0) {
    family.reductions = capability<std::uint32_t>(
        algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
  }
  family.has_swizzles =
      capability<std::uint32_t>(algorithm,
                                CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0;
  family.has_clusters = std::all_of(
      family.stages.begin(), family.stages.end(),
      [](std::uint32_t stages) { return stages >= kFirstAutomaticStages; });
  return family;
}

}  // namespace

std::vector<CublasltFamily> cublaslt_families(const LtProduct& product) {
  std::array<int, kMostFamilies> ids{};
  int count = 0;
  if (cublasLtMatmulAlgoGetIds(product.handle(), product.compute_type(),
                               product.scale_type(), product.type(),
                               product.type(), product.out_type(),
                               product.out_type(), kMostFamilies, ids.data(),
                               &count) != CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  std::vector<CublasltFamily> families;
  for (int i = 0; i < count; ++i) {
    const int id = ids[static_cast<std::size_t>(i)];
    cublasLtMatmulAlgo_t algorithm{};
    if (cublasLtMatmulAlgoInit(
            product.handle(), product.compute_type(), product.scale_type(),
            product.type(), product.type(), product.out_type(),
            product.out_type(), id, &algorithm) == CUBLAS_STATUS_SUCCESS) {
      families.push_back(read_family(algorithm, id));
    }
  }
  return families;
}

std::vector<CublasltConfig> unsplit_configs(const CublasltFamily& family) {
  std::vector<CublasltConfig> configs;
  CublasltConfig config;
  config.id = family.id;
  config[kSplitK] = 1;
  const auto add_stages = [&] {
    for (const std::uint32_t stages : family.stages) {
      config[kStages] = stages;
      configs.push_back(config);
    }
  };
  for (const std::uint32_t tile : family.tiles) {
    config[kTile] = tile;
    for (std::uint32_t custom = 0; custom <= family.most_custom; ++custom) {
      config[kCustom] = custom;
      if (!family.has_clusters) {
        for (const std::uint32_t swizzle : {0U, 1U}) {
          config[kSwizzle] = swizzle;
          if (swizzle == 0 || family.has_swizzles) {
            add_stages();
          }
        }
        continue;
      }
      const TileSize size = tile_size(tile);
      const bool is_wide_along_m = (custom & kWideAlongM) != 0;
      if ((is_wide_along_m ? size.m : size.n) % kWideSide == 0) {
        for (config[kCluster] = kFirstCluster; config[kCluster] < kClusterEnd;
             ++config[kCluster]) {
          add_stages();
        }
      }
    }
  }
  return configs;
}

bool launches_clusters(const CublasltConfig& config) {
  return config[kStages] >= kFirstAutomaticStages;
}

Tiling tiling_of(const CublasltConfig& config) {
  Tiling tiling;
  if (const TileSize tile = tile_size(config[kTile]); tile.m > 0) {
    tiling.tile = tile;
  }
  if (const TileSize cluster = cluster_size(config[kCluster]); cluster.m > 0) {
    tiling.cluster = cluster;
  }
  if (launches_clusters(config) && (config[kCustom] & kSharedTile) != 0) {
    tiling.consumers = 2;
  }
  return tiling;
}

}  // namespace tunedops::cuda
