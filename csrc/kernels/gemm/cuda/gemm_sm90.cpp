#include "kernels/gemm/cuda/gemm_sm90.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/pack_lines.h"
#include "kernels/gemm/cuda/sm90_config.h"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/cuda/sm90_strip.h"
#include "kernels/gemm/cuda/tensor_map.h"
#include "kernels/gemm/cuda/workspace_cap.h"
#include "tuning/listed_space.h"

namespace tunedops {
namespace {

using cuda::Sm90Access;
using cuda::Sm90Launch;
using cuda::Sm90Layout;
using cuda::Sm90Operand;
using cuda::Sm90Parameters;
using cuda::Sm90Product;

// What kernels that nobody measured are proposed.
constexpr std::size_t kProposals = 6;

// No coordinate of a side reaches it, so what begins there comes as zeros.
constexpr int kNowhere = 1 << 30;

int divide_up(std::int64_t value, std::int64_t by) {
  return static_cast<int>((value + by - 1) / by);
}

// Where an operand is this time, for the copy engine.
Status place_operand(const Sm90Access& x, DType dtype, std::int64_t batch,
                     const void* data, Sm90Operand& operand) {
  operand.is_by_class = x.by_class ? 1 : 0;
  operand.is_batched = batch > 1 && x.matrix_stride > 0 ? 1 : 0;
  const int classes = x.by_class ? cuda::kClasses : 1;
  for (int c = 0; c < classes; ++c) {
    // A class without a line is copied from another's, from beyond its end.
    const bool is_empty = c >= x.lines;
    const std::int64_t first = is_empty ? 0 : c;
    const auto address = reinterpret_cast<std::uintptr_t>(data) +
                         static_cast<std::uintptr_t>(first * x.line_stride) * 2;
    const auto before = static_cast<int>(address % 16 / 2);
    const cuda::TensorView view{
        .base = reinterpret_cast<const void*>(address - address % 16),
        .dtype = dtype,
        .length = x.length + before,
        .lines = divide_up(x.lines - first, classes),
        .line_stride = x.line_stride * classes,
        .matrices = operand.is_batched != 0 ? batch : 1,
        .matrix_stride = x.matrix_stride,
        .box_lines = cuda::kPiece / classes};
    operand.shift[c] = is_empty ? kNowhere : before;
    if (Status encoded = encode_tensor_map(view, operand.maps[c]);
        !encoded.is_ok()) {
      return encoded;
    }
  }
  return Status::ok();
}

Sm90Launch launch_of(const GemmProblem& p, const Sm90Parameters& x) {
  const Sm90Layout layout = cuda::sm90_layout(p, x);
  const int multiprocessors =
      cuda::device_facts(p.header.device_index).multiprocessors;
  Sm90Launch launch;
  launch.tile_rows = x.turned ? x.tile_m : x.tile_n;
  launch.tile_columns = x.turned ? x.tile_n : x.tile_m;
  launch.a_has_k_contiguous = (x.turned ? layout.a : layout.b).k_is_contiguous;
  launch.b_has_k_contiguous = (x.turned ? layout.b : layout.a).k_is_contiguous;
  launch.cluster = x.cluster_m * x.cluster_n;
  launch.blocks = static_cast<int>(std::min<std::int64_t>(
      cuda::sm90_tiles(p, x) * x.splits * p.batch,
      multiprocessors / launch.cluster * launch.cluster));
  launch.shared_bytes =
      cuda::sm90_shared_bytes(cuda::sm90_stage_bytes(x), x.stages);
  return launch;
}

// All of the product that is known before the addresses are.
Sm90Product describe(const GemmProblem& p, const Sm90Parameters& x) {
  const bool turned = x.turned;
  Sm90Product product{};
  product.output = cuda::output_of(p, turned);
  product.cluster_rows = turned ? x.cluster_m : x.cluster_n;
  product.cluster_columns = turned ? x.cluster_n : x.cluster_m;
  product.schedule = {
      .row_tiles = divide_up(
          divide_up(product.output.rows, turned ? x.tile_m : x.tile_n),
          product.cluster_rows),
      .column_tiles = divide_up(
          divide_up(product.output.columns, turned ? x.tile_n : x.tile_m),
          product.cluster_columns),
      .batch = static_cast<int>(p.batch),
      .splits = x.splits,
      .k_steps = divide_up(p.k, cuda::kSm90StageK)};
  product.stages = x.stages;
  return product;
}

// An operand that is packed first, or not.
class Packing {
 public:
  Packing(const GemmProblem& p, bool is_wanted, const Sm90Access& from)
      : is_wanted_(is_wanted),
        bytes_(is_wanted ? cuda::sm90_packed_bytes(p, from) : 0) {
    lines_.length = from.length;
    lines_.lines = from.lines;
    lines_.line_stride = from.line_stride;
    lines_.matrices = from.matrix_stride == 0 ? 1 : p.batch;
    lines_.matrix_stride = from.matrix_stride;
  }

  bool is_wanted() const { return is_wanted_; }

  /// `data` and `free` workspace become the packed copy and what is behind it.
  Status run(const void*& data, char*& free, cudaStream_t stream) const {
    if (!is_wanted_) {
      return Status::ok();
    }
    cuda::UnpackedLines from = lines_;
    from.data = data;
    data = free;
    free += bytes_;
    return cuda::to_status(
        cuda::pack_lines(from, const_cast<void*>(data), stream),
        "packing an operand for Gemm_Sm90");
  }

 private:
  bool is_wanted_;
  std::size_t bytes_;
  cuda::UnpackedLines lines_;
};

class Sm90Plan final : public Plan {
 public:
  Sm90Plan(const GemmProblem& problem, const Sm90Parameters& parameters)
      : product_(describe(problem, parameters)),
        launch_(launch_of(problem, parameters)),
        layout_(cuda::sm90_layout(problem, parameters)),
        turned_(parameters.turned),
        packs_a_(problem, parameters.packs_a, cuda::sm90_layout(problem, {}).a),
        packs_b_(problem, parameters.packs_b, cuda::sm90_layout(problem, {}).b),
        packed_at_(cuda::sm90_partial_bytes(problem, parameters)),
        dtype_(problem.a_dtype), alpha_(problem.alpha), beta_(problem.beta),
        has_bias_(problem.has_bias()),
        workspace_bytes_(cuda::sm90_workspace_bytes(problem, parameters)),
        counters_(
            parameters.splits == 1
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
    if (Status placed = place_operands(arguments, launch.stream, product);
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
  int launches() const override {
    return 1 + (packs_a_.is_wanted() ? 1 : 0) + (packs_b_.is_wanted() ? 1 : 0);
  }

 private:
  Status place_operands(const Arguments& arguments, cudaStream_t stream,
                        Sm90Product& product) const {
    const void* a = arguments.operands[kGemmA];
    const void* b = arguments.operands[kGemmB];
    char* free = static_cast<char*>(arguments.workspace) + packed_at_;
    if (Status packed = packs_a_.run(a, free, stream); !packed.is_ok()) {
      return packed;
    }
    if (Status packed = packs_b_.run(b, free, stream); !packed.is_ok()) {
      return packed;
    }
    if (Status placed = place_operand(layout_.a, dtype_, product.schedule.batch,
                                      a, turned_ ? product.a : product.b);
        !placed.is_ok()) {
      return placed;
    }
    return place_operand(layout_.b, dtype_, product.schedule.batch, b,
                         turned_ ? product.b : product.a);
  }

  Sm90Product product_;
  Sm90Launch launch_;
  Sm90Layout layout_;
  bool turned_;
  Packing packs_a_;
  Packing packs_b_;
  std::size_t packed_at_;  // in workspace
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

// What packing takes beside the product.
double packing_us(const GemmProblem& p, const Sm90Parameters& x,
                  double bytes_per_us) {
  constexpr double kLaunchUs = 2;
  const Sm90Layout layout = cuda::sm90_layout(p, x);
  double us = 0;
  for (const auto& [packs, access] :
       {std::pair{x.packs_a, layout.a}, std::pair{x.packs_b, layout.b}}) {
    if (packs) {
      us += kLaunchUs +
            2 * static_cast<double>(cuda::sm90_packed_bytes(p, access)) /
                bytes_per_us;
    }
  }
  return us;
}

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
    all.push_back({x, cost.total_us(tiling, cost.step_us(tiling), x.splits) +
                          packing_us(p, x, facts.bytes_per_us)});
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
  return {log2_of(x.tile_m),       log2_of(x.tile_n),
          log2_of(x.cluster_m),    log2_of(x.cluster_n),
          log2_of(x.splits),       x.turned ? 1.0F : 0.0F,
          x.packs_a ? 1.0F : 0.0F, x.packs_b ? 1.0F : 0.0F};
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
