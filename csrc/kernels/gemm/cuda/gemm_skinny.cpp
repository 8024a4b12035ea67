#include "kernels/gemm/cuda/gemm_skinny.h"

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/skinny_product.h"
#include "kernels/gemm/cuda/workspace_cap.h"
#include "tuning/listed_space.h"

namespace tunedops {
namespace {

using cuda::SkinnyLaunch;
using cuda::SkinnyParameters;
using cuda::SkinnyProduct;

// All of the product that is known before the addresses are.
SkinnyProduct describe(const GemmProblem& p, const SkinnyParameters& x) {
  const bool a_is_wide = cuda::skinny_variant(p).wide_is_a;
  const bool narrow_has_k_contiguous =
      a_is_wide ? !p.transpose_b : p.transpose_a;
  const std::int64_t narrow_ld = a_is_wide ? p.ldb : p.lda;
  SkinnyProduct product;
  product.wide_count = a_is_wide ? p.m : p.n;
  product.narrow_count = static_cast<int>(a_is_wide ? p.n : p.m);
  product.k = p.k;
  product.k_of_split =
      x.splits == 1 ? p.k : cuda::skinny_k_of_split(p, x.splits);
  product.tiles = cuda::skinny_tiles(p, x);
  product.wide_ld = a_is_wide ? p.lda : p.ldb;
  product.narrow_ld = narrow_has_k_contiguous ? narrow_ld : 1;
  product.narrow_k_stride = narrow_has_k_contiguous ? 1 : narrow_ld;
  product.out_wide_stride = a_is_wide ? 1 : p.ldc;
  product.out_narrow_stride = a_is_wide ? p.ldc : 1;
  product.wide_batch_stride = a_is_wide ? p.stride_a : p.stride_b;
  product.narrow_batch_stride = a_is_wide ? p.stride_b : p.stride_a;
  product.out_batch_stride = p.stride_c;
  product.splits = x.splits;
  product.cluster = x.cluster;
  product.warps_wide = x.warps_wide;
  product.warps_k = x.warps_k;
  product.activation = p.activation;
  product.bias_is_along_wide = a_is_wide;
  product.bias_is_float = p.bias_dtype == DType::kFloat32;
  product.out_is_float = p.out_dtype == DType::kFloat32;
  return product;
}

class SkinnyPlan final : public Plan {
 public:
  SkinnyPlan(const GemmProblem& problem, const SkinnyParameters& parameters)
      : product_(describe(problem, parameters)), dtype_(problem.a_dtype),
        alpha_(problem.alpha), beta_(problem.beta),
        has_bias_(problem.has_bias()),
        splits_(cuda::skinny_splits(problem, parameters)) {
    launch_.variant = cuda::skinny_variant(problem);
    launch_.rows = parameters.rows;
    launch_.batch = problem.batch;
  }

  Status run(const Arguments& arguments, Stream stream) const override {
    const auto& data = arguments.operands;
    const bool a_is_wide = launch_.variant.wide_is_a;
    SkinnyProduct product = product_;
    product.wide = data[a_is_wide ? kGemmA : kGemmB];
    product.narrow = data[a_is_wide ? kGemmB : kGemmA];
    product.out = data[kGemmOut];
    product.bias = has_bias_ ? data[kGemmBias] : nullptr;
    product.partial = static_cast<float*>(arguments.workspace);
    product.counters = arguments.counters;
    product.alpha = scalar_of(alpha_, arguments.alpha);
    product.beta = scalar_of(beta_, arguments.beta);
    SkinnyLaunch launch = launch_;
    launch.stream = static_cast<cudaStream_t>(stream.handle);
    return cuda::to_status(dispatch(product, launch), "launching Gemm_Skinny");
  }

  std::size_t workspace_bytes() const override {
    return splits_.workspace_bytes();
  }
  std::size_t counter_count() const override { return splits_.counters(); }

 private:
  cudaError_t dispatch(const SkinnyProduct& product,
                       const SkinnyLaunch& launch) const {
    switch (dtype_) {
    case DType::kBFloat16:
      return cuda::run_skinny_bfloat16(product, launch);
    case DType::kFloat16:
      return cuda::run_skinny_float16(product, launch);
    default:
      return cuda::run_skinny_float32(product, launch);
    }
  }

  SkinnyProduct product_;
  SkinnyLaunch launch_;
  DType dtype_;
  ScalarClass alpha_;
  ScalarClass beta_;
  bool has_bias_;
  cuda::SplitTiles splits_;
};

cuda::SkinnyLimits limits_of(const GemmProblem& problem) {
  const cuda::DeviceFacts& facts =
      cuda::device_facts(problem.header.device_index);
  const cuda::DeviceGuard device(problem.header.device_index);
  return {.multiprocessors = facts.multiprocessors,
          .most_cluster =
              cuda::skinny_knows_clusters() ? cuda::kMostCluster : 1};
}

// The parameters, if the workspace that they want is allowed.
std::optional<SkinnyParameters> usable(const GemmProblem& problem,
                                       const Config& config) {
  const auto x = cuda::skinny_from_config(problem, limits_of(problem), config);
  return x && cuda::skinny_splits(problem, *x).workspace_bytes() <=
                     cuda::workspace_cap(problem)
             ? x
             : std::nullopt;
}

}  // namespace

Status GemmSkinny::do_supports(const GemmProblem& problem) const {
  return cuda::skinny_supports(problem);
}

std::vector<Config> GemmSkinny::do_configs(const GemmProblem& problem) const {
  std::vector<Config> configs;
  for (const SkinnyParameters& x :
       cuda::skinny_parameters(problem, limits_of(problem))) {
    const Config config = cuda::to_config(x);
    if (usable(problem, config)) {
      configs.push_back(config);
    }
  }
  return configs;
}

std::unique_ptr<ConfigSpace>
GemmSkinny::do_space(const GemmProblem& problem) const {
  std::vector<ListedSpace::Entry> entries;
  for (const SkinnyParameters& x :
       cuda::all_skinny_parameters(problem, limits_of(problem))) {
    const Config config = cuda::to_config(x);
    if (usable(problem, config)) {
      ConfigPoint point;
      point.at = {doublings(x.rows), doublings(x.warps_wide),
                  doublings(x.warps_k), doublings(x.splits),
                  x.cluster > 1 ? 1.0F : 0.0F};
      entries.push_back({config, point});
    }
  }
  return std::make_unique<ListedSpace>(
      std::move(entries), cuda::workspace_cap(problem), kMostCounters);
}

std::optional<Config>
GemmSkinny::do_heuristic(const GemmProblem& problem) const {
  return cuda::skinny_surely_wins(problem) ? first_config(problem)
                                           : std::nullopt;
}

Status GemmSkinny::check(const ProblemKey& key, const Config& config) const {
  return accept_if(usable(from_key<GemmProblem>(key), config).has_value());
}

std::unique_ptr<Plan> GemmSkinny::do_prepare(const GemmProblem& problem,
                                             const Config& config) const {
  const auto x = usable(problem, config);
  return x ? std::make_unique<SkinnyPlan>(problem, *x) : nullptr;
}

}  // namespace tunedops
