#pragma once

// A family of cuBLASLt's algorithms: kernels of one design, compiled for the
// tiles, stages and other options that the library lists. Which of their
// combinations can be, and how each cuts a product.

#include <cstdint>
#include <vector>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/cublaslt_tiles.h"
#include "tuning/config_space.h"

namespace tunedops::cuda {

struct CublasltFamily {
  std::int32_t id = 0;
  std::vector<std::uint32_t> tiles;
  std::vector<std::uint32_t> stages;
  std::uint32_t most_custom = 0;
  std::uint32_t reductions = 0;  // of splits, as bits; 0: k cannot be split
  bool has_swizzles = false;
};

/// Whether its kernels are launched in clusters. Those leave the stages to the
/// library.
bool has_clusters(const CublasltFamily& family);

/// All combinations of a family that do not split k and that can be. Of a
/// family with clusters the library accepts just these where it accepts any
/// (so it was found for types of 16 bits); of others it declines many.
std::vector<CublasltConfig> unsplit_configs(const CublasltFamily& family);

/// How an algorithm cuts a product.
Tiling tiling_of(const CublasltConfig& config);

/// Tells the kernels of a kind of product apart: algorithms with the same code
/// differ in what the kernel is told at its launch.
std::uint64_t code_of(const CublasltConfig& config);

/// Where it lies among all algorithms.
Coordinates coordinates_of(const CublasltConfig& config);

}  // namespace tunedops::cuda
