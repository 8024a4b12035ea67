#pragma once

// All algorithms of cuBLASLt that a product could take. What its heuristic
// proposes is a small part of them and not always the best. Combinations of
// what its families have are ordered by the cost model, and the library is
// asked which of the best it accepts: all of them would take seconds.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
#include "kernels/gemm/cuda/cublaslt_family.h"
#include "kernels/gemm/cuda/cublaslt_product.h"
#include "tuning/config_space.h"

namespace tunedops::cuda {

class CublasltSpace final : public ConfigSpace {
 public:
  explicit CublasltSpace(const GemmProblem& problem);

  std::vector<ConfigPoint> points(std::size_t most) override;
  Config config(const ConfigPoint& point) const override;
  std::optional<ConfigPoint> locate(const Config& config) const override;
  std::size_t workspace_bytes() const override;

 private:
  /// An algorithm and what it should take.
  struct Guess {
    float us = 0;
    CublasltConfig config;
  };

  bool is_accepted(const CublasltConfig& config) const;
  std::vector<Guess> unsplit_guesses(const CublasltFamily& family) const;
  std::vector<Guess> split_guesses(const CublasltConfig& unsplit,
                                   std::uint32_t reductions) const;
  ConfigPoint point_of(const CublasltConfig& config, double us) const;

  GemmProblem problem_;
  LtProduct product_;
  TilingCost cost_;
  std::vector<CublasltConfig> configs_;  // by the points' ids
};

}  // namespace tunedops::cuda
