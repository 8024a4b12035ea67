#pragma once

// Which algorithms cuBLASLt has for a kind of product. It accepts or declines
// combinations one by one, for reasons that depend on types, layouts and
// alignment and not on sizes; so it is asked once for each kind.

#include <memory>
#include <mutex>
#include <utility>
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

 private:
  std::mutex mutex_;
  std::vector<std::pair<GemmProblem, Algorithms>> kinds_;
};

}  // namespace tunedops::cuda
