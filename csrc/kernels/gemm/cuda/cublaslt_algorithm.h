#pragma once

// An algorithm of cuBLASLt as a config and back. The library's own form is an
// opaque block of bytes that means something to one version only; the nine
// attributes are numbers that people can read, are range-checked by the
// library, and are what TunableOp writes too.

#include <cublasLt.h>

#include <optional>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_product.h"
#include "tuning/config.h"

namespace tunedops::cuda {

/// `_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0_cluster_3`
std::optional<Config> describe_algorithm(const cublasLtMatmulAlgo_t& algorithm);

struct CheckedAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
  std::uint32_t splits = 1;
};

/// Rebuilds the algorithm and has the library check it for the product. Not ok
/// if the config is not one, if the library declines, if it wants more
/// workspace than the cap, or if the precision flags in force forbid it.
Status rebuild_algorithm(const GemmProblem& problem, const LtProduct& product,
                         const Config& config, CheckedAlgorithm& checked);
Status rebuild_algorithm(const GemmProblem& problem, const LtProduct& product,
                         const CublasltConfig& config,
                         CheckedAlgorithm& checked);

}  // namespace tunedops::cuda
