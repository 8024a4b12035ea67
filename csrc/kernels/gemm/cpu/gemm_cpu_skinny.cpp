#include "kernels/gemm/cpu/gemm_cpu_skinny.h"

#include "kernels/gemm/cpu/isa_loops.h"
#include "kernels/gemm/cpu/skinny_pack.h"
#include "kernels/gemm/cpu/skinny_product.h"
#include "kernels/gemm/cpu/thread_counts.h"
#include "kernels/gemm/cpu/thread_scratch.h"
#include "tuning/listed_space.h"
#include "tuning/parallel_for.h"

#include <algorithm>
#include <new>

namespace tunedops {
namespace {

using cpu::Isa;
using cpu::SkinnyLoops;
using cpu::SkinnyProduct;

struct Parameters {
  int block;
  bool prefetch;
  int threads;
};

const SkinnyLoops& loops_for(DType dtype, Isa isa) {
  using Loops = cpu::IsaLoops<SkinnyLoops>;
  static constexpr Loops kFloat32 =
      TUNEDOPS_ISA_LOOPS(cpu::kSkinnyFloat32, Avx512);
  static constexpr Loops kFloat16 =
      TUNEDOPS_ISA_LOOPS(cpu::kSkinnyFloat16, Avx512);
  static constexpr Loops kBfloat16 =
      TUNEDOPS_ISA_LOOPS(cpu::kSkinnyBfloat16, Avx512Bf16);
  switch (dtype) {
  case DType::kBFloat16:
    return kBfloat16.of(isa);
  case DType::kFloat16:
    return kFloat16.of(isa);
  default:
    return kFloat32.of(isa);
  }
}

std::int64_t weight_bytes(const GemmProblem& problem) {
  return problem.m * problem.k *
         static_cast<std::int64_t>(size_of(problem.a_dtype));
}

/// Rows of out that one thread takes at least: whole vectors, and whole cache
/// lines of out.
std::int64_t rows_of_piece(const GemmProblem& problem) {
  return problem.transpose_a ? 16 : 64;
}

std::int64_t pieces(const GemmProblem& problem) {
  const std::int64_t rows = rows_of_piece(problem);
  return (problem.m + rows - 1) / rows;
}

std::vector<int> thread_counts(const GemmProblem& problem) {
  return cpu::thread_counts(pieces(problem), problem.header.threads);
}

/// Best guess first.
std::vector<int> blocks(const GemmProblem& problem) {
  const bool many_registers = cpu::usable_isa() >= Isa::kAvx512;
  if (problem.transpose_a) {
    return many_registers ? std::vector{8, 4, 2, 1} : std::vector{4, 2, 8, 1};
  }
  if (problem.n <= 2) {
    return {8, 4, 2};
  }
  return problem.n > 8 && many_registers ? std::vector{4, 2, 8}
                                         : std::vector{2, 4, 8};
}

Parameters best_guess(const GemmProblem& problem) {
  // A thread reads this much in the time that it takes to wake another.
  constexpr std::int64_t kBytesPerThread = 256 * 1024;
  int threads = 1;
  for (const int count : thread_counts(problem)) {
    if (weight_bytes(problem) >= count * kBytesPerThread) {
      threads = count;
    }
  }
  // With one or two columns the hardware's prefetch keeps up by itself.
  return {blocks(problem).front(), problem.n > 2, threads};
}

Config to_config(const GemmProblem& problem, const Parameters& parameters) {
  return Config()
      .with(problem.transpose_a ? "rows" : "vectors", parameters.block)
      .with("prefetch", parameters.prefetch ? 1 : 0)
      .with("threads", parameters.threads);
}

/// All that the loops can run.
std::vector<Parameters> all_parameters(const GemmProblem& problem) {
  std::vector<Parameters> all;
  for (const int block : blocks(problem)) {
    for (const bool prefetch : {false, true}) {
      for (const int threads : thread_counts(problem)) {
        all.push_back({block, prefetch, threads});
      }
    }
  }
  return all;
}

/// Nothing if the config is not one that this kernel writes.
std::optional<Parameters> from_config(const GemmProblem& problem,
                                      const Config& config) {
  for (const Parameters& parameters : all_parameters(problem)) {
    if (to_config(problem, parameters) == config) {
      return parameters;
    }
  }
  return std::nullopt;
}

class SkinnyPlan final : public Plan {
 public:
  SkinnyPlan(const GemmProblem& problem, const Parameters& parameters)
      : problem_(problem),
        loops_(loops_for(problem.a_dtype, cpu::usable_isa())),
        threads_(parameters.threads) {
    product_.lda = problem.lda;
    product_.ldc = problem.ldc;
    product_.bias_is_float = problem.bias_dtype == DType::kFloat32;
    product_.n = static_cast<int>(problem.n);
    product_.k = problem.k;
    product_.activation = problem.activation;
    product_.block = parameters.block;
    product_.prefetch = parameters.prefetch;
  }

  Status run(const Arguments& arguments, Stream) const override {
    SkinnyProduct product = product_;
    product.a = arguments.operands[kGemmA];
    product.out = arguments.operands[kGemmOut];
    product.bias =
        problem_.has_bias() ? arguments.operands[kGemmBias] : nullptr;
    product.alpha = scalar_of(problem_.alpha, arguments.alpha);
    product.beta = scalar_of(problem_.beta, arguments.beta);
    try {
      const cpu::PackedColumns b = cpu::pack_columns(
          problem_, arguments.operands[kGemmB], loops_.widened_b, threads_);
      product.b = b.data;
      product.ldb = b.ld;
    } catch (const std::bad_alloc&) {
      return Status::failed("not enough memory to rearrange b");
    }
    const std::int64_t m = problem_.m;
    const std::int64_t rows = rows_of_piece(problem_);
    try {
      parallel_for(pieces(problem_), threads_,
                   [&](std::int64_t begin, std::int64_t end) {
                     multiply(product, begin * rows, std::min(end * rows, m));
                   });
    } catch (const std::bad_alloc&) {
      // Others may have written their pieces.
      throw StatusError(Status::failed("not enough memory for the sums"));
    }
    return Status::ok();
  }

 private:
  struct Panel {};

  void multiply(const SkinnyProduct& product, std::int64_t begin,
                std::int64_t end) const {
    if (problem_.transpose_a) {
      loops_.dot(product, begin, end);
      return;
    }
    SkinnyProduct own = product;
    own.panel = static_cast<float*>(
        cpu::thread_scratch<Panel>(sizeof(float) * cpu::kPanelFloats));
    loops_.broadcast(own, begin, end);
  }

  GemmProblem problem_;
  const SkinnyLoops& loops_;
  int threads_;
  SkinnyProduct product_;
};

// Vectors are some times slower than tiles of so many columns, and the time to
// tune is better spent on those.
bool is_for_tiles(const GemmProblem& problem) {
  constexpr std::int64_t kMostForVectors = 8;
  return cpu::multiplies_tiles(problem.a_dtype) && problem.n > kMostForVectors;
}

}  // namespace

Status GemmCpuSkinny::do_supports(const GemmProblem& problem) const {
  if (problem.batched || problem.batch != 1) {
    return Status::unsupported("batched products are not supported");
  }
  if (problem.n < 1 || problem.n > cpu::kMaxSkinnyColumns) {
    return Status::unsupported("n is not in 1 to 32");
  }
  if (problem.m < 1 || problem.k < 1) {
    return Status::unsupported("the product is empty");
  }
  const DType dtype = problem.a_dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kBFloat16 &&
      dtype != DType::kFloat16) {
    return Status::unsupported("the type is not float, BFloat16 or Half");
  }
  if (problem.b_dtype != dtype || problem.out_dtype != dtype) {
    return Status::unsupported("a, b and out are not of one type");
  }
  if (problem.has_bias() && problem.bias_dtype != dtype &&
      problem.bias_dtype != DType::kFloat32) {
    return Status::unsupported("the bias is neither of out's type nor float");
  }
  if (problem.conjugate_a || problem.conjugate_b) {
    return Status::unsupported("conjugated operands are not supported");
  }
  return Status::ok();
}

std::vector<Config>
GemmCpuSkinny::do_configs(const GemmProblem& problem) const {
  const Parameters best = best_guess(problem);
  if (is_for_tiles(problem)) {
    return {to_config(problem, best)};
  }
  std::vector<Config> configs;
  for (const bool prefetch : {best.prefetch, !best.prefetch}) {
    for (const int block : blocks(problem)) {
      configs.push_back(to_config(problem, {block, prefetch, best.threads}));
    }
  }
  // The other thread counts, the nearest first: at most three, so that a
  // machine with many cores does not search longer.
  std::vector<int> counts = thread_counts(problem);
  std::erase(counts, best.threads);
  std::stable_sort(counts.begin(), counts.end(), [&](int x, int y) {
    const auto distance = [&](int threads) {
      return threads > best.threads ? threads / best.threads
                                    : best.threads / threads;
    };
    return distance(x) < distance(y);
  });
  counts.resize(std::min<std::size_t>(counts.size(), 3));
  for (const int threads : counts) {
    configs.push_back(to_config(problem, {best.block, best.prefetch, threads}));
  }
  return configs;
}

std::unique_ptr<ConfigSpace>
GemmCpuSkinny::do_space(const GemmProblem& problem) const {
  if (is_for_tiles(problem)) {
    return nullptr;
  }
  std::vector<ListedSpace::Entry> entries;
  for (const Parameters& parameters : all_parameters(problem)) {
    ConfigPoint point;
    point.at = {doublings(parameters.block), parameters.prefetch ? 1.0F : 0.0F,
                doublings(parameters.threads)};
    entries.push_back({to_config(problem, parameters), point});
  }
  return std::make_unique<ListedSpace>(std::move(entries));
}

std::optional<Config>
GemmCpuSkinny::do_heuristic(const GemmProblem& problem) const {
  // Where weights come from memory, reading them once is what counts, provided
  // that the arithmetic keeps up (without wide vectors it does for few columns)
  // and that all threads have something to read.
  constexpr std::int64_t kBeyondCache = 4 * 1024 * 1024;
  const Isa isa = cpu::usable_isa();
  const Isa native =
      problem.a_dtype == DType::kBFloat16 ? Isa::kAvx512Bf16 : Isa::kAvx512;
  const bool keeps_up =
      (isa >= native && !cpu::multiplies_tiles(problem.a_dtype)) ||
      (isa >= Isa::kAvx2 && problem.n <= 4);
  if (weight_bytes(problem) < kBeyondCache || !keeps_up ||
      cpu::useful_threads(pieces(problem), problem.header.threads) <
          problem.header.threads) {
    return std::nullopt;
  }
  return to_config(problem, best_guess(problem));
}

Status GemmCpuSkinny::check(const ProblemKey& key, const Config& config) const {
  return accept_if(from_config(from_key<GemmProblem>(key), config).has_value());
}

std::unique_ptr<Plan> GemmCpuSkinny::do_prepare(const GemmProblem& problem,
                                                const Config& config) const {
  const auto parameters = from_config(problem, config);
  return parameters ? std::make_unique<SkinnyPlan>(problem, *parameters)
                    : nullptr;
}

}  // namespace tunedops
