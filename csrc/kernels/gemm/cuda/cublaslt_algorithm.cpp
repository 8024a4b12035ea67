#include "kernels/gemm/cuda/cublaslt_algorithm.h"

#include <algorithm>
#include <utility>

#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops::cuda {
namespace {

static_assert(kReduceInPlace == CUBLASLT_REDUCTION_SCHEME_INPLACE &&
              kReduceInOutputType == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);

constexpr std::array<cublasLtMatmulAlgoConfigAttributes_t, kCublasltAttributes>
    kAttributes{CUBLASLT_ALGO_CONFIG_TILE_ID,
                CUBLASLT_ALGO_CONFIG_STAGES_ID,
                CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING,
                CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
                CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID,
                CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID};

bool get(const cublasLtMatmulAlgo_t& algorithm,
         cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,
         std::size_t size) {
  std::size_t written = 0;
  return cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, value,
                                              size, &written) ==
         CUBLAS_STATUS_SUCCESS;
}

// The library checks leading dimensions and not addresses, which it does not
// know here; the problem says how they are aligned.
Status check_alignment(const GemmProblem& p,
                       const cublasLtMatmulAlgo_t& algorithm) {
  const std::pair<cublasLtMatmulAlgoCapAttributes_t, std::uint8_t> operands[] =
      {
          {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, p.align_a},
          {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, p.align_b},
          {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, p.align_out},
          {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, p.align_out},
  };
  for (const auto& [attribute, alignment] : operands) {
    std::uint32_t wanted = 0;
    std::size_t written = 0;
    if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &wanted,
                                          sizeof(wanted),
                                          &written) == CUBLAS_STATUS_SUCCESS &&
        wanted > std::max<std::uint32_t>(alignment, 1) && wanted <= 16) {
      return Status::unsupported("wants operands that are better aligned");
    }
  }
  return Status::ok();
}

}  // namespace

std::optional<Config>
describe_algorithm(const cublasLtMatmulAlgo_t& algorithm) {
  CublasltConfig config;
  if (!get(algorithm, CUBLASLT_ALGO_CONFIG_ID, &config.id, sizeof(config.id))) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kAttributes.size(); ++i) {
    if (!get(algorithm, kAttributes[i], &config.values[i],
             size_of(static_cast<CublasltAttribute>(i)))) {
      return std::nullopt;
    }
  }
  return to_config(config);
}

Status rebuild_algorithm(const GemmProblem& problem, const LtProduct& product,
                         const Config& config, CheckedAlgorithm& checked) {
  const auto attributes = cublaslt_from_config(config);
  if (!attributes) {
    return Status::unsupported("is not an algorithm of cuBLASLt");
  }
  return rebuild_algorithm(problem, product, *attributes, checked);
}

Status rebuild_algorithm(const GemmProblem& problem, const LtProduct& product,
                         const CublasltConfig& config,
                         CheckedAlgorithm& checked) {
  if (Status allowed = cublaslt_allowed(problem, config); !allowed.is_ok()) {
    return allowed;
  }
  TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoInit(
      product.handle(), product.compute_type(), product.scale_type(),
      product.type(), product.type(), product.out_type(), product.out_type(),
      config.id, &checked.algorithm));
  for (std::size_t i = 0; i < kAttributes.size(); ++i) {
    TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoConfigSetAttribute(
        &checked.algorithm, kAttributes[i], &config.values[i],
        size_of(static_cast<CublasltAttribute>(i))));
  }
  cublasLtMatmulHeuristicResult_t result{};
  TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoCheck(
      product.handle(), product.operation(), product.a(), product.b(),
      product.c(), product.c(), &checked.algorithm, &result));
  if (result.workspaceSize > workspace_cap(problem)) {
    return Status::unsupported("wants more workspace than the cap");
  }
  if (Status aligned = check_alignment(problem, checked.algorithm);
      !aligned.is_ok()) {
    return aligned;
  }
  checked.workspace_bytes = result.workspaceSize;
  checked.splits = config[CublasltAttribute::kSplitK];
  return Status::ok();
}

}  // namespace tunedops::cuda
