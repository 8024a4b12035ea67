#pragma once

// All algorithms of cuBLASLt that a product could take. What its heuristic
// proposes is a small part of them and not always the best. Combinations of
// what its families have are ordered by the cost model, and the library is
// asked which of the best it accepts.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_config.h"
#include "kernels/gemm/cuda/cublaslt_cost.h"
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
  struct Guess {
    float us = 0;
    CublasltConfig config;
  };

  std::vector<Guess> guesses() const;
  ConfigPoint point_of(const CublasltConfig& config, double us) const;

  GemmProblem problem_;
  LtProduct product_;
  TilingCost cost_;
  std::vector<CublasltConfig> accepted_;  // by the points' ids
};

}  // namespace tunedops::cuda
