#include "kernels/gemm/cuda/gemm_sm80.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/sm80_config.h"
#include "kernels/gemm/cuda/sm80_product.h"
#include "kernels/gemm/cuda/sm80_strip.h"
#include "kernels/gemm/cuda/workspace_cap.h"
#include "tuning/listed_space.h"

namespace tunedops {
namespace {

using cuda::Sm80Access;
using cuda::Sm80Launch;
using cuda::Sm80Layout;
using cuda::Sm80Limits;
using cuda::Sm80Operand;
using cuda::Sm80Parameters;
using cuda::Sm80Product;

// What kernels that nobody measured are proposed.
constexpr std::size_t kProposals = 6;

int divide_up(std::int64_t value, std::int64_t by) {
  return static_cast<int>((value + by - 1) / by);
}

Sm80Limits limits_of(const GemmProblem& p) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  return {.multiprocessors = facts.multiprocessors,
          .shared_bytes = facts.block_shared_bytes - cuda::kSm80OwnSharedBytes,
          .workspace_cap = cuda::workspace_cap(p)};
}

Sm80Launch launch_of(const GemmProblem& p, const Sm80Parameters& x) {
  const Sm80Layout layout = cuda::sm80_layout(p);
  Sm80Launch launch;
  launch.tile_rows = x.turned ? x.tile_m : x.tile_n;
  launch.tile_columns = x.turned ? x.tile_n : x.tile_m;
  launch.a_has_k_contiguous = (x.turned ? layout.a : layout.b).k_is_contiguous;
  launch.b_has_k_contiguous = (x.turned ? layout.b : layout.a).k_is_contiguous;
  launch.blocks = static_cast<int>(cuda::sm80_tiles(p, x) * x.splits * p.batch);
  launch.shared_bytes = cuda::sm80_block_bytes(p, x);
  launch.most_shared_bytes = limits_of(p).shared_bytes;
  return launch;
}

Sm80Operand describe(const Sm80Access& x) {
  Sm80Operand operand{};
  operand.line_stride = x.line_stride;
  operand.batch_stride = x.matrix_stride;
  operand.lines = static_cast<int>(x.lines);
  operand.length = static_cast<int>(x.length);
  operand.is_aligned = x.is_aligned;
  return operand;
}

// All of the product that is known before the addresses are.
Sm80Product describe(const GemmProblem& p, const Sm80Parameters& x) {
  const Sm80Layout layout = cuda::sm80_layout(p);
  Sm80Product product{};
  product.a = describe(x.turned ? layout.a : layout.b);
  product.b = describe(x.turned ? layout.b : layout.a);
  product.output = cuda::output_of(p);
  const int m_tiles = divide_up(p.m, x.tile_m);
  const int n_tiles = divide_up(p.n, x.tile_n);
  product.schedule = {.row_tiles = x.turned ? m_tiles : n_tiles,
                      .column_tiles = x.turned ? n_tiles : m_tiles,
                      .batch = static_cast<int>(p.batch),
                      .splits = x.splits,
                      .k_steps = divide_up(p.k, cuda::kSm80StageK)};
  product.stages = x.stages;
  product.is_turned = x.turned;
  return product;
}

class Sm80Plan final : public Plan {
 public:
  Sm80Plan(const GemmProblem& problem, const Sm80Parameters& parameters)
      : product_(describe(problem, parameters)),
        launch_(launch_of(problem, parameters)), dtype_(problem.a_dtype),
        alpha_(problem.alpha), beta_(problem.beta),
        has_bias_(problem.has_bias()),
        workspace_bytes_(cuda::sm80_workspace_bytes(problem, parameters)),
        counters_(
            parameters.splits == 1
                ? 0
                : static_cast<std::size_t>(
                      cuda::sm80_tiles(problem, parameters) * problem.batch)) {}

  /// Once, on the device of the problem.
  Status make_ready() const {
    return cuda::to_status(dtype_ == DType::kFloat16
                               ? cuda::prepare_sm80_float16(launch_)
                               : cuda::prepare_sm80_bfloat16(launch_),
                           "cudaFuncSetAttribute for Gemm_Sm80");
  }

  Status run(const Arguments& arguments, Stream stream) const override {
    const auto& data = arguments.operands;
    Sm80Product product = product_;
    product.a.data = data[product.is_turned ? kGemmA : kGemmB];
    product.b.data = data[product.is_turned ? kGemmB : kGemmA];
    product.output.out = data[kGemmOut];
    product.output.bias = has_bias_ ? data[kGemmBias] : nullptr;
    product.output.alpha = scalar_of(alpha_, arguments.alpha);
    product.output.beta = scalar_of(beta_, arguments.beta);
    product.meeting = {.partial = static_cast<float*>(arguments.workspace),
                       .counters = arguments.counters};
    Sm80Launch launch = launch_;
    launch.stream = static_cast<cudaStream_t>(stream.handle);
    return cuda::to_status(dtype_ == DType::kFloat16
                               ? cuda::run_sm80_float16(product, launch)
                               : cuda::run_sm80_bfloat16(product, launch),
                           "launching Gemm_Sm80");
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  std::size_t counter_count() const override { return counters_; }

 private:
  Sm80Product product_;
  Sm80Launch launch_;
  DType dtype_;
  ScalarClass alpha_;
  ScalarClass beta_;
  bool has_bias_;
  std::size_t workspace_bytes_;
  std::size_t counters_;
};

struct Guess {
  Sm80Parameters parameters;
  double us;
};

// All that can run, the fastest by the model first. It knows nothing of stages:
// of those that differ in nothing else the usual number comes first.
std::vector<Guess> guesses(const GemmProblem& p) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  const cuda::TilingCost cost(p, facts.multiprocessors, facts.bytes_per_us);
  std::vector<Guess> all;
  for (const Sm80Parameters& x : cuda::all_sm80_parameters(p, limits_of(p))) {
    const cuda::Tiling tiling{.tile = {x.tile_m, x.tile_n}};
    all.push_back({x, cost.total_us(tiling, cost.step_us(tiling), x.splits)});
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const Guess& left, const Guess& right) { return left.us < right.us; });
  return all;
}

Coordinates coordinates_of(const Sm80Parameters& x) {
  const auto log2_of = [](int value) {
    return std::log2(static_cast<float>(value));
  };
  return {log2_of(x.tile_m), log2_of(x.tile_n), log2_of(x.stages),
          log2_of(x.splits), x.turned ? 1.0F : 0.0F};
}

std::optional<Sm80Parameters> usable(const GemmProblem& problem,
                                     const Config& config) {
  return cuda::sm80_from_config(problem, limits_of(problem), config);
}

}  // namespace

Status GemmSm80::do_supports(const GemmProblem& problem) const {
  if (cuda::device_facts(problem.header.device_index).major < 8) {
    return Status::unsupported("the GPU is older than compute capability 8.0");
  }
  return cuda::sm80_supports(problem, limits_of(problem));
}

std::vector<Config> GemmSm80::do_configs(const GemmProblem& problem) const {
  const Sm80Limits limits = limits_of(problem);
  std::vector<Config> configs;
  for (const Guess& guess : guesses(problem)) {
    if (configs.size() == kProposals) {
      break;
    }
    const Sm80Parameters& x = guess.parameters;
    if (x.stages == cuda::sm80_usual_stages(problem, x, limits)) {
      configs.push_back(cuda::to_config(x));
    }
  }
  return configs;
}

std::unique_ptr<ConfigSpace>
GemmSm80::do_space(const GemmProblem& problem) const {
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

Status GemmSm80::check(const ProblemKey& key, const Config& config) const {
  return usable(from_key<GemmProblem>(key), config)
             ? Status::ok()
             : Status::unsupported("is not a config of this kernel");
}

std::unique_ptr<Plan> GemmSm80::do_prepare(const GemmProblem& problem,
                                           const Config& config) const {
  const auto x = usable(problem, config);
  if (!x) {
    return nullptr;
  }
  const cuda::DeviceGuard device(problem.header.device_index);
  auto plan = std::make_unique<Sm80Plan>(problem, *x);
  return plan->make_ready().is_ok() ? std::move(plan) : nullptr;
}

}  // namespace tunedops
