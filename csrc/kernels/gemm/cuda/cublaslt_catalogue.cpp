#include "kernels/gemm/cuda/cublaslt_catalogue.h"

#include <algorithm>

#include "kernels/gemm/cuda/cublaslt_algorithm.h"
#include "kernels/gemm/cuda/cublaslt_families.h"

namespace tunedops::cuda {
namespace {

// Most families have nothing for a given kind: one is tried at so many places
// before it is given up.
constexpr std::size_t kTries = 64;

// Whether whole vectors can be loaded, which is all that lengths and distances
// are asked for.
std::int64_t vectors_only(std::int64_t elements, DType dtype) {
  constexpr std::int64_t kVector = 16;
  return elements * static_cast<std::int64_t>(size_of(dtype)) % kVector;
}

GemmProblem without_sizes(GemmProblem p) {
  p.m = 0;
  p.n = 0;
  p.k = 0;
  p.lda = vectors_only(p.lda, p.a_dtype);
  p.ldb = vectors_only(p.ldb, p.b_dtype);
  p.ldc = vectors_only(p.ldc, p.out_dtype);
  p.stride_a = vectors_only(p.stride_a, p.a_dtype);
  p.stride_b = vectors_only(p.stride_b, p.b_dtype);
  p.stride_c = vectors_only(p.stride_c, p.out_dtype);
  p.batch = p.batch > 1 ? 2 : 1;
  return p;
}

std::vector<UnsplitAlgorithm> find_algorithms(const GemmProblem& problem,
                                              const LtProduct& product) {
  const auto is_accepted = [&](const CublasltConfig& config) {
    CheckedAlgorithm checked;
    return rebuild_algorithm(problem, product, config, checked).is_ok();
  };
  std::vector<UnsplitAlgorithm> found;
  for (const CublasltFamily& family : cublaslt_families(product)) {
    const std::vector<CublasltConfig> configs = unsplit_configs(family);
    const std::size_t stride =
        std::max<std::size_t>(1, configs.size() / kTries);
    bool is_alive = false;
    for (std::size_t i = 0; i < configs.size() && !is_alive; i += stride) {
      is_alive = is_accepted(configs[i]);
    }
    if (!is_alive) {
      continue;
    }
    // Of clusters all that can be are accepted, and to ask takes a while.
    const bool may_be_declined = !has_clusters(family);
    for (const CublasltConfig& config : configs) {
      if (!may_be_declined || is_accepted(config)) {
        found.push_back({config, family.reductions});
      }
    }
  }
  return found;
}

}  // namespace

CublasltCatalogue::Algorithms
CublasltCatalogue::algorithms(const GemmProblem& problem,
                              const LtProduct& product) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kind_of(problem);
  if (kind.algorithms == nullptr) {
    kind.algorithms = std::make_shared<const std::vector<UnsplitAlgorithm>>(
        find_algorithms(problem, product));
  }
  return kind.algorithms;
}

void CublasltCatalogue::set_loaded(const GemmProblem& problem,
                                   std::uint64_t code) {
  const std::lock_guard lock(mutex_);
  kind_of(problem).loaded.insert(code);
}

std::unordered_set<std::uint64_t>
CublasltCatalogue::loaded(const GemmProblem& problem) {
  const std::lock_guard lock(mutex_);
  return kind_of(problem).loaded;
}

CublasltCatalogue::Kind&
CublasltCatalogue::kind_of(const GemmProblem& problem) {
  const GemmProblem kind = without_sizes(problem);
  for (Kind& known : kinds_) {
    if (known.kind == kind) {
      return known;
    }
  }
  return kinds_.emplace_back(
      Kind{.kind = kind, .algorithms = {}, .loaded = {}});
}

}  // namespace tunedops::cuda
