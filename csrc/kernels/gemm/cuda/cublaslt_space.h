#pragma once

// All algorithms of cuBLASLt that a product could take. What its heuristic
// proposes is a small part of them and not always the best. The catalogue's
// algorithms, split in all ways, are ordered by the cost model.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_catalogue.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/cublaslt_product.h"
#include "tuning/config_space.h"

namespace tunedops::cuda {

class CublasltSpace final : public ConfigSpace {
 public:
  /// `catalogue` outlives it.
  CublasltSpace(const GemmProblem& problem, CublasltCatalogue& catalogue);

  std::vector<ConfigPoint> points(std::size_t most) override;
  Config config(const ConfigPoint& point) const override;
  std::optional<ConfigPoint> locate(const Config& config) const override;
  void set_loaded(const Config& config) override;
  std::size_t workspace_bytes() const override;

 private:
  /// An algorithm and what it should take.
  struct Guess {
    float us = 0;
    CublasltConfig config;
  };

  void add_guesses(const UnsplitAlgorithm& algorithm,
                   std::vector<Guess>& guesses) const;
  std::vector<std::uint32_t> splits_of(const Tiling& tiling) const;

  GemmProblem problem_;
  CublasltCatalogue& catalogue_;
  LtProduct product_;
  TilingCost cost_;
  std::vector<CublasltConfig> configs_;  // by the points' ids
};

}  // namespace tunedops::cuda
