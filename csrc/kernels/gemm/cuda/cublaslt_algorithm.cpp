#include "kernels/gemm/cuda/cublaslt_algorithm.h"

#include <array>
#include <limits>
#include <stdexcept>

#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops::cuda {
namespace {

struct Attribute {
  std::string_view name;
  cublasLtMatmulAlgoConfigAttributes_t id;
  std::size_t size;  // bytes in the library's struct
};

// In the order of TunableOp's names; `id` itself is how an algorithm is made.
constexpr std::array<Attribute, 8> kAttributes{{
    {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    {"splitk", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    {"red", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    {"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    {"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    {"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
}};

// Reductions that keep partial sums in the output's type lose precision, and
// reductions in place add in the order in which blocks finish.
Status allowed_by_flags(const GemmProblem& p, const Config& config) {
  const std::int64_t reduction = config.at("red");
  if ((p.header.precision & kDeterministic) != 0 &&
      (reduction & CUBLASLT_REDUCTION_SCHEME_INPLACE) != 0) {
    return Status::unsupported("its reduction is not deterministic");
  }
  if ((p.header.precision & kFullPrecisionReduction) != 0 &&
      (reduction & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE) != 0) {
    return Status::unsupported("its reduction is of lower precision");
  }
  return Status::ok();
}

// The value of every attribute, or nothing if the config has another form.
std::optional<std::array<std::int64_t, kAttributes.size()>>
read(const Config& config) {
  std::array<std::int64_t, kAttributes.size()> values{};
  try {
    Config canonical = Config().with("id", config.at("id"));
    for (std::size_t i = 0; i < kAttributes.size(); ++i) {
      values[i] = config.at(kAttributes[i].name);
      const std::int64_t most = kAttributes[i].size == 2
                                    ? std::numeric_limits<std::uint16_t>::max()
                                    : std::numeric_limits<std::int32_t>::max();
      if (values[i] < 0 || values[i] > most) {
        return std::nullopt;
      }
      canonical = canonical.with(kAttributes[i].name, values[i]);
    }
    if (!(canonical == config)) {
      return std::nullopt;
    }
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
  return values;
}

}  // namespace

std::optional<Config>
describe_algorithm(const cublasLtMatmulAlgo_t& algorithm) {
  std::size_t written = 0;
  std::int32_t id = 0;
  if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID,
                                           &id, sizeof(id),
                                           &written) != CUBLAS_STATUS_SUCCESS) {
    return std::nullopt;
  }
  Config config = Config().with("id", id);
  for (const Attribute& attribute : kAttributes) {
    std::uint32_t value = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute.id, &value,
                                             attribute.size, &written) !=
        CUBLAS_STATUS_SUCCESS) {
      return std::nullopt;
    }
    config = config.with(attribute.name, value);
  }
  return config;
}

Status rebuild_algorithm(const GemmProblem& problem, const LtProduct& product,
                         const Config& config, CheckedAlgorithm& checked) {
  const auto values = read(config);
  const std::int64_t id = values ? config.at("id") : -1;
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
    return Status::unsupported("is not an algorithm of cuBLASLt");
  }
  if (Status allowed = allowed_by_flags(problem, config); !allowed.is_ok()) {
    return allowed;
  }
  TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoInit(
      product.handle(), product.compute_type(), product.scale_type(),
      product.type(), product.type(), product.type(), product.type(),
      static_cast<int>(id), &checked.algorithm));
  for (std::size_t i = 0; i < kAttributes.size(); ++i) {
    const auto value = static_cast<std::uint32_t>((*values)[i]);
    TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoConfigSetAttribute(
        &checked.algorithm, kAttributes[i].id, &value, kAttributes[i].size));
  }
  cublasLtMatmulHeuristicResult_t result{};
  TUNEDOPS_CUDA_RETURN(cublasLtMatmulAlgoCheck(
      product.handle(), product.operation(), product.a(), product.b(),
      product.c(), product.c(), &checked.algorithm, &result));
  if (result.workspaceSize > workspace_cap(problem)) {
    return Status::unsupported("wants more workspace than the cap");
  }
  checked.workspace_bytes = result.workspaceSize;
  return Status::ok();
}

}  // namespace tunedops::cuda
