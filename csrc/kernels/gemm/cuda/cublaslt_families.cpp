#include "kernels/gemm/cuda/cublaslt_families.h"

#include <algorithm>
#include <array>

#include "backends/cuda/check.h"

namespace tunedops::cuda {
namespace {

constexpr int kMostFamilies = 256;

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

}  // namespace tunedops::cuda
