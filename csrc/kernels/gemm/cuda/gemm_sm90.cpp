#include "kernels/gemm/cuda/gemm_sm90.h"

#include <algorithm>
#include <cstdint>

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/half_layout.h"
#include "kernels/gemm/cuda/sm90_config.h"
#include "kernels/gemm/cuda/sm90_cost.h"
#include "kernels/gemm/cuda/sm90_packing.h"
#include "kernels/gemm/cuda/sm90_place.h"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/tile_product.h"
#include "kernels/gemm/cuda/tiled_config.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops {
namespace {

using cuda::HalfLayout;
using cuda::HalfLines;
using cuda::Sm90Launch;
using cuda::Sm90Operand;
using cuda::Sm90Packing;
using cuda::Sm90Parameters;
using cuda::Sm90Place;
using cuda::Sm90Product;
using cuda::TileStreams;

Sm90Launch launch_of(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = cuda::sm90_layout(p, x);
  const int multiprocessors =
      cuda::device_facts(p.header.device_index).multiprocessors;
  Sm90Launch launch;
  launch.tile_rows = x.turned ? x.tile_m : x.tile_n;
  launch.tile_columns = x.turned ? x.tile_n : x.tile_m;
  launch.a_has_k_contiguous = (x.turned ? layout.a : layout.b).k_is_contiguous;
  launch.b_has_k_contiguous = (x.turned ? layout.b : layout.a).k_is_contiguous;
  launch.cluster = x.cluster_m * x.cluster_n * x.cluster_k;
  // Splits that meet in a cluster have one tile only, and streams are blocks.
  const std::int64_t works = cuda::sm90_splits(p, x).blocks();
  launch.blocks = static_cast<int>(
      x.cluster_k > 1 || x.streams > 0
          ? works
          : std::min<std::int64_t>(works, multiprocessors / launch.cluster *
                                              launch.cluster));
  launch.shared_bytes = cuda::sm90_shared_bytes(
      cuda::sm90_stage_bytes(p, x), x.stages, cuda::sm90_output_bytes(p, x));
  return launch;
}

Sm90Operand describe(const HalfLines& x) {
  return {.is_aligned = x.is_aligned, .is_batched = x.matrix_stride != 0};
}

// All of the product that is known before the addresses are.
Sm90Product describe(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = cuda::sm90_layout(p, x);
  const bool turned = x.turned;
  Sm90Product product{};
  product.a = describe(turned ? layout.a : layout.b);
  product.b = describe(turned ? layout.b : layout.a);
  product.is_turned = turned;
  product.writes_boxes = cuda::sm90_writes_boxes(p);
  product.writes_aside = x.aside;
  product.stages = x.stages;
  product.strip_buffers = cuda::sm90_strip_buffers(p, x);
  product.cluster_rows = turned ? x.cluster_m : x.cluster_n;
  product.cluster_columns = turned ? x.cluster_n : x.cluster_m;
  product.cluster_splits = x.cluster_k;
  product.schedule = cuda::schedule_of(
      p, {x.tile_m * x.cluster_m, x.tile_n * x.cluster_n}, turned, x.splits,
      cuda::kSm90StageK, cuda::kTilesDown / product.cluster_rows);
  if (x.streams > 0) {
    product.is_streamed = true;
    product.streams =
        TileStreams(product.schedule, x.streams / (x.cluster_m * x.cluster_n));
  }
  product.output = cuda::output_of(p);
  return product;
}

class Sm90Plan final : public Plan {
 public:
  Sm90Plan(const GemmProblem& problem, const Sm90Parameters& parameters)
      : product_(describe(problem, parameters)),
        launch_(launch_of(problem, parameters)),
        place_a_(problem, cuda::sm90_layout(problem, parameters).a,
                 parameters.tile_m, parameters.cluster_n),
        place_b_(problem, cuda::sm90_layout(problem, parameters).b,
                 parameters.tile_n, parameters.cluster_m),
        place_output_(problem), problem_(problem),
        packing_(problem, parameters),
        splits_(cuda::sm90_splits(problem, parameters)) {}

  /// Once, on the device of the problem.
  Status make_ready() const {
    return cuda::to_status(problem_.a_dtype == DType::kFloat16
                               ? cuda::prepare_sm90_float16(launch_)
                               : cuda::prepare_sm90_bfloat16(launch_),
                           "cudaFuncSetAttribute for Gemm_Sm90");
  }

  Status run(const Arguments& arguments, Stream stream) const override {
    Sm90Launch launch = launch_;
    launch.stream = static_cast<cudaStream_t>(stream.handle);
    auto data = arguments.operands;
    if (Status packed = packing_.run(data, arguments.workspace, launch.stream);
        !packed.is_ok()) {
      return packed;
    }
    Sm90Product product = product_;
    if (Status placed = place_a_(
            data[kGemmA], product.is_turned ? product.a_maps : product.b_maps);
        !placed.is_ok()) {
      return placed;
    }
    if (Status placed = place_b_(
            data[kGemmB], product.is_turned ? product.b_maps : product.a_maps);
        !placed.is_ok()) {
      return placed;
    }
    if (product.writes_boxes) {
      if (Status placed = place_output_(data[kGemmOut], product.output_map);
          !placed.is_ok()) {
        return placed;
      }
    }
    cuda::set_arguments(problem_, arguments, product.output, product.meeting);
    return cuda::to_status(problem_.a_dtype == DType::kFloat16
                               ? cuda::run_sm90_float16(product, launch)
                               : cuda::run_sm90_bfloat16(product, launch),
                           "launching Gemm_Sm90");
  }

  std::size_t workspace_bytes() const override {
    return splits_.workspace_bytes() + packing_.bytes();
  }
  std::size_t counter_count() const override { return splits_.counters(); }
  int launches() const override { return packing_.bytes() > 0 ? 2 : 1; }

 private:
  Sm90Product product_;
  Sm90Launch launch_;
  Sm90Place place_a_;
  Sm90Place place_b_;
  cuda::Sm90OutputPlace place_output_;
  GemmProblem problem_;
  Sm90Packing packing_;
  cuda::SplitTiles splits_;
};

Coordinates coordinates_of(const Sm90Parameters& x) {
  return {doublings(x.tile_m),           doublings(x.tile_n),
          doublings(x.cluster_m),        doublings(x.cluster_n),
          doublings(x.splits),           x.turned ? 1.0F : 0.0F,
          x.cluster_k > 1 ? 1.0F : 0.0F, x.packed ? 1.0F : 0.0F,
          x.aside ? 1.0F : 0.0F,         x.streams > 0 ? 1.0F : 0.0F};
}

std::vector<ListedSpace::Entry>
fastest_first(const GemmProblem& p, const std::vector<Sm90Parameters>& all) {
  const cuda::DeviceFacts& facts = cuda::device_facts(p.header.device_index);
  std::vector<cuda::TiledConfig> configs;
  for (const Sm90Parameters& x : all) {
    configs.push_back({.config = cuda::to_config(x),
                       .us = cuda::sm90_cost_us(p, x, facts.multiprocessors,
                                                facts.bytes_per_us),
                       .at = coordinates_of(x)});
  }
  return cuda::fastest_first(configs);
}

std::vector<Sm90Parameters> all_parameters(const GemmProblem& p) {
  return cuda::all_sm90_parameters(
      p, cuda::device_facts(p.header.device_index).multiprocessors,
      cuda::workspace_cap(p));
}

std::optional<Sm90Parameters> usable(const GemmProblem& problem,
                                     const Config& config) {
  return cuda::sm90_from_config(problem, cuda::workspace_cap(problem), config);
}

}  // namespace

// Where there is no GPU that is why.
Status GemmSm90::do_supports(const GemmProblem& problem) const {
  return status_of([&] {
    const int index = problem.header.device_index;
    if (cuda::device_facts(index).major != 9) {
      return Status::unsupported("the GPU is not of compute capability 9.0");
    }
    const cuda::DeviceGuard device(index);
    if (!cuda::sm90_is_compiled()) {
      return Status::unsupported("it was not compiled for 9.0a");
    }
    return cuda::sm90_supports(problem, cuda::workspace_cap(problem));
  });
}

std::vector<Config> GemmSm90::do_configs(const GemmProblem& problem) const {
  return cuda::proposals(fastest_first(problem, all_parameters(problem)));
}

std::unique_ptr<ConfigSpace>
GemmSm90::do_space(const GemmProblem& problem) const {
  const std::vector<Sm90Parameters> all = all_parameters(problem);
  std::size_t workspace = cuda::workspace_cap(problem);
  for (const Sm90Parameters& x : all) {
    workspace = std::max(workspace, cuda::sm90_splits_bytes(problem, x) +
                                        cuda::sm90_packed(problem, x).bytes());
  }
  return std::make_unique<ListedSpace>(fastest_first(problem, all), workspace,
                                       kMostCounters);
}

std::optional<Config> GemmSm90::do_heuristic(const GemmProblem& problem) const {
  if (!cuda::sm90_surely_wins(problem)) {
    return std::nullopt;
  }
  // Unmeasured, whole tiles are the safer choice.
  std::vector<Sm90Parameters> all = all_parameters(problem);
  std::erase_if(all, [](const Sm90Parameters& x) { return x.streams > 0; });
  return fastest_first(problem, all).front().config;
}

Status GemmSm90::check(const ProblemKey& key, const Config& config) const {
  return accept_if(usable(from_key<GemmProblem>(key), config).has_value());
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
