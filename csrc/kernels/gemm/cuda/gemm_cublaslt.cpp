#include "kernels/gemm/cuda/gemm_cublaslt.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_algorithm.h"
#include "kernels/gemm/cuda/cublaslt_space.h"
#include "kernels/gemm/cuda/library_support.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops {
namespace {

using cuda::CheckedAlgorithm;
using cuda::LtProduct;

// Far more than the library has ever returned for one problem (8).
constexpr int kMostProposals = 64;

class CublasltPlan final : public Plan {
 public:
  CublasltPlan(const GemmProblem& problem, LtProduct product,
               const CheckedAlgorithm& checked)
      : product_(std::move(product)), checked_(checked),
        is_double_(problem.a_dtype == DType::kFloat64),
        has_bias_(problem.has_bias()) {}

  Status run(const Arguments& arguments, Stream stream) const override {
    const auto& data = arguments.operands;
    const float alpha = static_cast<float>(arguments.alpha);
    const float beta = static_cast<float>(arguments.beta);
    // The bias' address is part of the operation, which other threads share:
    // this call gets a copy of its own.
    cublasLtMatmulDescOpaque_t copy;
    cublasLtMatmulDesc_t operation = product_.operation();
    if (has_bias_) {
      copy = *operation;
      operation = &copy;
      const void* bias = data[kGemmBias];
      TUNEDOPS_CUDA_RETURN(cublasLtMatmulDescSetAttribute(
          operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
    }
    return cuda::to_status_of_product(
        cublasLtMatmul(
            product_.handle(), operation,
            is_double_ ? static_cast<const void*>(&arguments.alpha) : &alpha,
            data[kGemmA], product_.a(), data[kGemmB], product_.b(),
            is_double_ ? static_cast<const void*>(&arguments.beta) : &beta,
            data[kGemmOut], product_.c(), data[kGemmOut], product_.c(),
            &checked_.algorithm, arguments.workspace, checked_.workspace_bytes,
            static_cast<cudaStream_t>(stream.handle)),
        "cublasLtMatmul");
  }

  std::size_t workspace_bytes() const override {
    return checked_.workspace_bytes;
  }

  // Splits are added up by a launch of their own.
  int launches() const override { return checked_.splits > 1 ? 2 : 1; }

 private:
  LtProduct product_;
  CheckedAlgorithm checked_;
  bool is_double_;
  bool has_bias_;
};

template <class Value>
void prefer(const cuda::LtPreference& preference,
            cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulPreferenceSetAttribute(
      preference.get(), attribute, &value, sizeof(value)));
}

// What the problem promises; the library's own default is 256 bytes.
cuda::LtPreference preference_for(const GemmProblem& p) {
  cublasLtMatmulPreference_t created = nullptr;
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulPreferenceCreate(&created));
  cuda::LtPreference preference(created);
  prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         std::uint64_t{cuda::workspace_cap(p)});
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
         std::uint32_t{p.align_a});
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
         std::uint32_t{p.align_b});
  for (const auto out : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    prefer(preference, out, std::uint32_t{p.align_out});
  }
  return preference;
}

// What the heuristic proposes and the library, asked again, accepts.
void add_proposals(const GemmProblem& p, const LtProduct& product,
                   const cuda::LtPreference& preference,
                   std::vector<Config>& configs) {
  std::vector<cublasLtMatmulHeuristicResult_t> results(kMostProposals);
  int count = 0;
  const Status asked = cuda::to_status(
      cublasLtMatmulAlgoGetHeuristic(product.handle(), product.operation(),
                                     product.a(), product.b(), product.c(),
                                     product.c(), preference.get(),
                                     kMostProposals, results.data(), &count),
      "cublasLtMatmulAlgoGetHeuristic");
  if (!asked.is_ok()) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    const auto config =
        cuda::describe_algorithm(results[static_cast<std::size_t>(i)].algo);
    CheckedAlgorithm checked;
    if (config &&
        std::find(configs.begin(), configs.end(), *config) == configs.end() &&
        cuda::rebuild_algorithm(p, product, *config, checked).is_ok()) {
      configs.push_back(*config);
    }
  }
}

}  // namespace

Status GemmCublaslt::do_supports(const GemmProblem& p) const {
  return cuda::cublaslt_supports(p);
}

std::vector<Config> GemmCublaslt::do_configs(const GemmProblem& p) const {
  const cuda::DeviceGuard device(p.header.device_index);
  const LtProduct product(p);
  std::vector<Config> configs;
  // The plain question first, whose answers are those that TunableOp has.
  add_proposals(p, product, preference_for(p), configs);
  // The library answers with a few however many are asked for; asked for less
  // it answers with others.
  const cuda::LtPreference unsplit = preference_for(p);
  prefer(unsplit, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  add_proposals(p, product, unsplit, configs);
  const cuda::LtPreference one_wave = preference_for(p);
  prefer(one_wave, CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 1.0F);
  add_proposals(p, product, one_wave, configs);
  return configs;
}

std::unique_ptr<ConfigSpace>
GemmCublaslt::do_space(const GemmProblem& p) const {
  const cuda::DeviceGuard device(p.header.device_index);
  return std::make_unique<cuda::CublasltSpace>(p, catalogue_);
}

Status GemmCublaslt::check(const ProblemKey& key, const Config& config) const {
  const auto p = from_key<GemmProblem>(key);
  const cuda::DeviceGuard device(p.header.device_index);
  CheckedAlgorithm checked;
  return cuda::rebuild_algorithm(p, LtProduct(p), config, checked);
}

std::unique_ptr<Plan> GemmCublaslt::do_prepare(const GemmProblem& problem,
                                               const Config& config) const {
  const cuda::DeviceGuard device(problem.header.device_index);
  LtProduct product(problem);
  CheckedAlgorithm checked;
  if (!cuda::rebuild_algorithm(problem, product, config, checked).is_ok()) {
    return nullptr;
  }
  return std::make_unique<CublasltPlan>(problem, std::move(product), checked);
}

}  // namespace tunedops
