#include "kernels/gemm/cuda/gemm_sm90.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/sm90_config.h"
#include "kernels/gemm/cuda/sm90_place.h"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/workspace_cap.h"
#include "tuning/listed_space.h"

namespace tunedops {
namespace {

using cuda::Sm90Launch;
using cuda::Sm90Layout;
using cuda::Sm90Parameters;
using cuda::Sm90Place;
using cuda::Sm90Product;

// What kernels that nobody measured are proposed.
constexpr std::size_t kProposals = 6;

int divide_up(std::int64_t value, std::int64_t by) {
  return static_cast<int>((value + by - 1) / by);
}

Sm90Launch launch_of(const GemmProblem& p, const Sm90Parameters& x) {
  const Sm90Layout layout = cuda::sm90_layout(p);
  const int multiprocessors =
      cuda::device_facts(p.header.device_index).multiprocessors;
  Sm90Launch launch;
  launch.tile_rows = x.turned ? x.tile_m : x.tile_n;
  launch.tile_columns = x.turned ? x.tile_n : x.tile_m;
  launch.a_has_k_contiguous = (x.turned ? layout.a : layout.b).k_is_contiguous;
  launch.b_has_k_contiguous = (x.turned ? layout.b : layout.a).k_is_contiguous;
  launch.is_pingpong = x.pingpong;
  launch.cluster = x.cluster_m * x.cluster_n * x.cluster_k;
  // Splits that meet in a cluster have one tile only.
  const std::int64_t works = cuda::sm90_tiles(p, x) * x.splits * p.batch;
  launch.blocks = static_cast<int>(
      x.cluster_k > 1
          ? works
          : std::min<std::int64_t>(works, multiprocessors / launch.cluster *
                                              launch.cluster));
  launch.shared_bytes =
      cuda::sm90_shared_bytes(cuda::sm90_stage_bytes(p, x), x.stages);
  return launch;
}

// All of the product that is known before the addresses are.
Sm90Product describe(const GemmProblem& p, const Sm90Parameters& x) {
  const bool turned = x.turned;
  Sm90Product product{};
  product.output = cuda::output_of(p);
  product.cluster_rows = turned ? x.cluster_m : x.cluster_n;
  product.cluster_columns = turned ? x.cluster_n : x.cluster_m;
  const int m_clusters = divide_up(divide_up(p.m, x.tile_m), x.cluster_m);
  const int n_clusters = divide_up(divide_up(p.n, x.tile_n), x.cluster_n);
  product.schedule = {.row_tiles = turned ? m_clusters : n_clusters,
                      .column_tiles = turned ? n_clusters : m_clusters,
                      .batch = static_cast<int>(p.batch),
                      .splits = x.splits,
                      .k_steps = divide_up(p.k, cuda::kSm90StageK)};
  product.stages = x.stages;
  product.cluster_splits = x.cluster_k;
  product.is_turned = turned;
  return product;
}

class Sm90Plan final : public Plan {
 public:
  Sm90Plan(const GemmProblem& problem, const Sm90Parameters& parameters)
      : product_(describe(problem, parameters)),
        launch_(launch_of(problem, parameters)),
        place_a_(problem, cuda::sm90_layout(problem).a, parameters.tile_m,
                 parameters.cluster_n),
        place_b_(problem, cuda::sm90_layout(problem).b, parameters.tile_n,
                 parameters.cluster_m),
        dtype_(problem.a_dtype), alpha_(problem.alpha), beta_(problem.beta),
        has_bias_(problem.has_bias()),
        workspace_bytes_(cuda::sm90_workspace_bytes(problem, parameters)),
        counters_(
            parameters.splits == parameters.cluster_k
                ? 0
                : static_cast<std::size_t>(
                      cuda::sm90_tiles(problem, parameters) * problem.batch)) {}

  /// Once, on the device of the problem.
  Status make_ready() const {
    return cuda::to_status(dtype_ == DType::kFloat16
                               ? cuda::prepare_sm90_float16(launch_)
                               : cuda::prepare_sm90_bfloat16(launch_),
                           "cudaFuncSetAttribute for Gemm_Sm90");
  }

  Status run(const Arguments& arguments, Stream stream) const override {
    const auto& data = arguments.operands;
    Sm90Launch launch = launch_;
    launch.stream = static_cast<cudaStream_t>(stream.handle);
    Sm90Product product = product_;
    if (Status placed =
            place_a_(data[kGemmA], product.is_turned ? product.a : product.b);
        !placed.is_ok()) {
      return placed;
    }
    if (Status placed =
            place_b_(data[kGemmB], product.is_turned ? product.b : product.a);
        !placed.is_ok()) {
      return placed;
    }
    product.output.out = data[kGemmOut];
    product.output.bias = has_bias_ ? data[kGemmBias] : nullptr;
    product.output.alpha = scalar_of(alpha_, arguments.alpha);
    product.output.beta = scalar_of(beta_, arguments.beta);
    product.meeting = {.partial = static_cast<float*>(arguments.workspace),
                       .counters = arguments.counters};
    return cuda::to_status(dtype_ == DType::kFloat16
                               ? cuda::run_sm90_float16(product, launch)
                               : cuda::run_sm90_bfloat16(product, launch),
                           "launching Gemm_Sm90");
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  std::size_t counter_count() const override { return counters_; }

 private:
  Sm90Product product_;
  Sm90Launch launch_;
  Sm90Place place_a_;
  Sm90Place place_b_;
  DType dtype_;
  ScalarClass alpha_;
  ScalarClass beta_;
  bool has_bias_;
  std::size_t workspace_bytes_;
  std::size_t counters_;
};

struct Guess {
  Sm90Parameters parameters;
  double us;
};

// All that can run, the fastest by the model first.
std::vector<Guess> guesses(const GemmProblem& p) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  const cuda::TilingCost cost(p, facts.multiprocessors, facts.bytes_per_us);
  std::vector<Guess> all;
  for (const Sm90Parameters& x : cuda::all_sm90_parameters(
           p, facts.multiprocessors, cuda::workspace_cap(p))) {
    const cuda::Tiling tiling{.tile = {x.tile_m, x.tile_n},
                              .cluster = {x.cluster_m, x.cluster_n},
                              .consumers = 2};
    all.push_back({x, cost.total_us(tiling, cost.step_us(tiling), x.splits)});
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const Guess& left, const Guess& right) { return left.us < right.us; });
  return all;
}

Coordinates coordinates_of(const Sm90Parameters& x) {
  const auto log2_of = [](int value) {
    return std::log2(static_cast<float>(value));
  };
  return {log2_of(x.tile_m),        log2_of(x.tile_n),
          log2_of(x.cluster_m),     log2_of(x.cluster_n),
          log2_of(x.splits),        x.turned ? 1.0F : 0.0F,
          x.pingpong ? 1.0F : 0.0F, x.cluster_k > 1 ? 1.0F : 0.0F};
}

std::optional<Sm90Parameters> usable(const GemmProblem& problem,
                                     const Config& config) {
  return cuda::sm90_from_config(problem, cuda::workspace_cap(problem), config);
}

}  // namespace

Status GemmSm90::do_supports(const GemmProblem& problem) const {
  const int index = problem.header.device_index;
  if (cuda::device_facts(index).major != 9) {
    return Status::unsupported("the GPU is not of compute capability 9.0");
  }
  const cuda::DeviceGuard device(index);
  if (!cuda::sm90_is_compiled()) {
    return Status::unsupported("it was not compiled for 9.0a");
  }
  return cuda::sm90_supports(problem, cuda::workspace_cap(problem));
}

std::vector<Config> GemmSm90::do_configs(const GemmProblem& problem) const {
  std::vector<Config> configs;
  for (const Guess& guess : guesses(problem)) {
    if (configs.size() == kProposals) {
      break;
    }
    configs.push_back(cuda::to_config(guess.parameters));
  }
  return configs;
}

std::unique_ptr<ConfigSpace>
GemmSm90::do_space(const GemmProblem& problem) const {
  std::vector<ListedSpace::Entry> entries;
  for (const Guess& guess : guesses(problem)) {
    ConfigPoint point;
    point.predicted_ms = static_cast<float>(guess.us / 1000);
    point.at = coordinates_of(guess.parameters);
    entries.push_back({cuda::to_config(guess.parameters), point});
  }
  return std::make_unique<ListedSpace>(
      std::move(entries), cuda::workspace_cap(problem), kMostCounters);
}

std::optional<Config> GemmSm90::do_heuristic(const GemmProblem& problem) const {
  if (!cuda::sm90_surely_wins(problem)) {
    return std::nullopt;
  }
  const std::vector<Config> configs = do_configs(problem);
  return configs.empty() ? std::nullopt : std::make_optional(configs.front());
}

Status GemmSm90::check(const ProblemKey& key, const Config& config) const {
  return usable(from_key<GemmProblem>(key), config)
             ? Status::ok()
             : Status::unsupported("is not a config of this kernel");
}

std::unique_ptr<Plan> GemmSm90::do_prepare(const GemmProblem& problem,
                                           const Config& config) const {
  const auto x = usable(problem, config);
  if (!x) {
    return nullptr;
  }
  const cuda::DeviceGuard device(problem.header.device_index);
  auto plan = std::make_unique<Sm90Plan>(problem, *x);
  return plan->make_ready().is_ok() ? std::move(plan) : nullptr;
}

}  // namespace tunedops
