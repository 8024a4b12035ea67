#include "kernels/gemm/cuda/gemm_sm80.h"

#include <cstdint>

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/sm80_config.h"
#include "kernels/gemm/cuda/sm80_product.h"
#include "kernels/gemm/cuda/sm80_strip.h"
#include "kernels/gemm/cuda/tile_product.h"
#include "kernels/gemm/cuda/tiled_config.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops {
namespace {

using cuda::HalfLayout;
using cuda::HalfLines;
using cuda::Sm80Launch;
using cuda::Sm80Limits;
using cuda::Sm80Operand;
using cuda::Sm80Parameters;
using cuda::Sm80Product;

Sm80Limits limits_of(const GemmProblem& p) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  return {.multiprocessors = facts.multiprocessors,
          .shared_bytes = facts.block_shared_bytes - cuda::kSm80OwnSharedBytes,
          .workspace_cap = cuda::workspace_cap(p)};
}

Sm80Launch launch_of(const GemmProblem& p, const Sm80Parameters& x) {
  const HalfLayout layout = cuda::sm80_layout(p);
  Sm80Launch launch;
  launch.tile_rows = x.turned ? x.tile_m : x.tile_n;
  launch.tile_columns = x.turned ? x.tile_n : x.tile_m;
  launch.a_has_k_contiguous = (x.turned ? layout.a : layout.b).k_is_contiguous;
  launch.b_has_k_contiguous = (x.turned ? layout.b : layout.a).k_is_contiguous;
  launch.blocks = static_cast<int>(cuda::sm80_splits(p, x).blocks());
  launch.shared_bytes = cuda::sm80_block_bytes(p, x);
  launch.most_shared_bytes = limits_of(p).shared_bytes;
  return launch;
}

Sm80Operand describe(const HalfLines& x) {
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
  const HalfLayout layout = cuda::sm80_layout(p);
  Sm80Product product{};
  product.a = describe(x.turned ? layout.a : layout.b);
  product.b = describe(x.turned ? layout.b : layout.a);
  product.output = cuda::output_of(p);
  product.schedule =
      cuda::schedule_of(p, {x.tile_m, x.tile_n}, x.turned, x.splits,
                        cuda::kSm80StageK, cuda::kTilesDown);
  product.stages = x.stages;
  product.is_turned = x.turned;
  return product;
}

class Sm80Plan final : public Plan {
 public:
  Sm80Plan(const GemmProblem& problem, const Sm80Parameters& parameters)
      : product_(describe(problem, parameters)),
        launch_(launch_of(problem, parameters)), problem_(problem),
        splits_(cuda::sm80_splits(problem, parameters)) {}

  /// Once, on the device of the problem.
  Status make_ready() const {
    return cuda::to_status(problem_.a_dtype == DType::kFloat16
                               ? cuda::prepare_sm80_float16(launch_)
                               : cuda::prepare_sm80_bfloat16(launch_),
                           "cudaFuncSetAttribute for Gemm_Sm80");
  }

  Status run(const Arguments& arguments, Stream stream) const override {
    const auto& data = arguments.operands;
    Sm80Product product = product_;
    product.a.data = data[product.is_turned ? kGemmA : kGemmB];
    product.b.data = data[product.is_turned ? kGemmB : kGemmA];
    cuda::set_arguments(problem_, arguments, product.output, product.meeting);
    Sm80Launch launch = launch_;
    launch.stream = static_cast<cudaStream_t>(stream.handle);
    return cuda::to_status(problem_.a_dtype == DType::kFloat16
                               ? cuda::run_sm80_float16(product, launch)
                               : cuda::run_sm80_bfloat16(product, launch),
                           "launching Gemm_Sm80");
  }

  std::size_t workspace_bytes() const override {
    return splits_.workspace_bytes();
  }
  std::size_t counter_count() const override { return splits_.counters(); }

 private:
  Sm80Product product_;
  Sm80Launch launch_;
  GemmProblem problem_;
  cuda::SplitTiles splits_;
};

Coordinates coordinates_of(const Sm80Parameters& x) {
  return {doublings(x.tile_m), doublings(x.tile_n), doublings(x.stages),
          doublings(x.splits), x.turned ? 1.0F : 0.0F};
}

// The model knows nothing of stages: of those that differ in nothing else the
// usual number comes first.
std::vector<ListedSpace::Entry>
fastest_first(const GemmProblem& p, const std::vector<Sm80Parameters>& all) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  const cuda::TilingCost cost(p, facts.multiprocessors, facts.bytes_per_us);
  std::vector<cuda::TiledConfig> configs;
  for (const Sm80Parameters& x : all) {
    const cuda::Tiling tiling{.tile = {x.tile_m, x.tile_n}};
    configs.push_back(
        {.config = cuda::to_config(x),
         .us = cost.total_us(tiling, cost.step_us(tiling), x.splits),
         .at = coordinates_of(x)});
  }
  return cuda::fastest_first(configs);
}

std::optional<Sm80Parameters> usable(const GemmProblem& problem,
                                     const Config& config) {
  return cuda::sm80_from_config(problem, limits_of(problem), config);
}

}  // namespace

// Where there is no GPU that is why.
Status GemmSm80::do_supports(const GemmProblem& problem) const {
  return status_of([&] {
    if (cuda::device_facts(problem.header.device_index).major < 8) {
      return Status::unsupported(
          "the GPU is older than compute capability 8.0");
    }
    return cuda::sm80_supports(problem, limits_of(problem));
  });
}

std::vector<Config> GemmSm80::do_configs(const GemmProblem& problem) const {
  const Sm80Limits limits = limits_of(problem);
  std::vector<Sm80Parameters> usual =
      cuda::all_sm80_parameters(problem, limits);
  std::erase_if(usual, [&](const Sm80Parameters& x) {
    return x.stages != cuda::sm80_usual_stages(problem, x, limits);
  });
  return cuda::proposals(fastest_first(problem, usual));
}

std::unique_ptr<ConfigSpace>
GemmSm80::do_space(const GemmProblem& problem) const {
  return std::make_unique<ListedSpace>(
      fastest_first(problem,
                    cuda::all_sm80_parameters(problem, limits_of(problem))),
      cuda::workspace_cap(problem), kMostCounters);
}

Status GemmSm80::check(const ProblemKey& key, const Config& config) const {
  return accept_if(usable(from_key<GemmProblem>(key), config).has_value());
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
