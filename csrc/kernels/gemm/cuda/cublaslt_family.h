#pragma once

// What algorithms cuBLASLt has for a product, as it says itself: families, each
// with the tiles, stages and other options that its kernels are compiled for.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/cublaslt_product.h"

namespace tunedops::cuda {

struct CublasltFamily {
  std::int32_t id = 0;
  std::vector<std::uint32_t> tiles;
  std::vector<std::uint32_t> stages;
  std::uint32_t most_custom = 0;
  std::uint32_t reductions = 0;  // of splits, as bits; 0: k cannot be split
  bool has_swizzles = false;
  bool has_clusters = false;
};

std::vector<CublasltFamily> cublaslt_families(const LtProduct& product);

/// All combinations of a family that do not split k and are not impossible for
/// a reason that we know; many others the library declines when it is asked.
std::vector<CublasltConfig> unsplit_configs(const CublasltFamily& family);

/// How such an algorithm cuts a product.
Tiling tiling_of(const CublasltConfig& config);

/// Whether it is of a family with clusters.
bool launches_clusters(const CublasltConfig& config);

}  // namespace tunedops::cuda
