#pragma once

// Which algorithms cuBLASLt has for a kind of product. It accepts or declines
// combinations one by one, for reasons that depend on types, layouts and
// alignment and not on sizes; so it is asked once for each kind. And which of
// their kernels are loaded by now: a first launch takes milliseconds.

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_product.h"

namespace tunedops::cuda {

/// An algorithm that does not split k, and how it may: bits of the reductions.
struct UnsplitAlgorithm {
  CublasltConfig config;
  std::uint32_t reductions = 0;
};

class CublasltCatalogue {
 public:
  using Algorithms = std::shared_ptr<const std::vector<UnsplitAlgorithm>>;

  /// Of the product's kind, in no order.
  Algorithms algorithms(const GemmProblem& problem, const LtProduct& product);

  // Codes, as the points of a space have them, of kernels for the problem's
  // kind that were run.
  void set_loaded(const GemmProblem& problem, std::uint64_t code);
  std::unordered_set<std::uint64_t> loaded(const GemmProblem& problem);

 private:
  struct Kind {
    GemmProblem kind;
    Algorithms algorithms;  // null: not asked for yet
    std::unordered_set<std::uint64_t> loaded;
  };

  Kind& kind_of(const GemmProblem& problem);

  std::mutex mutex_;
  std::vector<Kind> kinds_;
};

}  // namespace tunedops::cuda
