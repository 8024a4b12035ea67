#include "kernels/gemm/cuda/cublaslt_space.h"

#include <algorithm>
#include <cmath>

#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_algorithm.h"
#include "kernels/gemm/cuda/cublaslt_family.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops::cuda {
namespace {

using enum CublasltAttribute;

constexpr std::uint32_t kSplits[] = {2,  3,  4,  5,  6,  7,  8,  10, 12, 14, 16,
                                     20, 24, 28, 32, 40, 48, 64, 80, 96, 128};
constexpr std::int64_t kLeastBytesOfSplit = 256;  // along k

constexpr std::uint32_t kReductions[] = {CUBLASLT_REDUCTION_SCHEME_INPLACE,
                                         CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                                         CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE};

// How alike algorithms are: a step of the coordinate of a tile is a factor of
// 1.2, of a split one of 1.5.
constexpr float kPerTileDoubling = 4;
constexpr float kPerSplitDoubling = 1.7F;
constexpr float kPerStage = 0.5F;
constexpr float kPerFamily = 2;

float log2_of(int value) {
  return std::log2(static_cast<float>(std::max(value, 1)));
}

}  // namespace

CublasltSpace::CublasltSpace(const GemmProblem& problem)
    : problem_(problem), product_(problem),
      cost_(problem, device_facts(problem.header.device_index).multiprocessors,
            device_facts(problem.header.device_index).bytes_per_us) {}

std::size_t CublasltSpace::workspace_bytes() const {
  return workspace_cap(problem_);
}

std::vector<CublasltSpace::Guess> CublasltSpace::guesses() const {
  std::vector<Guess> all;
  const std::int64_t k_bytes =
      problem_.k * static_cast<std::int64_t>(size_of(problem_.a_dtype));
  for (const CublasltFamily& family : cublaslt_families(product_)) {
    for (CublasltConfig config : unsplit_configs(family)) {
      const Tiling tiling = tiling_of(config);
      const double step_us = cost_.step_us(tiling);
      const auto add = [&](std::uint32_t splits) {
        if (cublaslt_allowed(problem_, config).is_ok()) {
          all.push_back({static_cast<float>(cost_.total_us(
                             tiling, step_us, static_cast<int>(splits))),
                         config});
        }
      };
      add(1);
      for (const std::uint32_t splits : kSplits) {
        if (k_bytes < kLeastBytesOfSplit * splits) {
          break;
        }
        config[kSplitK] = splits;
        for (const std::uint32_t reduction : kReductions) {
          config[kReduction] = reduction;
          if ((reduction & family.reductions) != 0) {
            add(splits);
          }
        }
      }
    }
  }
  return all;
}

std::vector<ConfigPoint> CublasltSpace::points(std::size_t most) {
  const DeviceGuard device(problem_.header.device_index);
  std::vector<Guess> guessed = guesses();
  std::stable_sort(
      guessed.begin(), guessed.end(),
      [](const Guess& left, const Guess& right) { return left.us < right.us; });
  std::vector<ConfigPoint> points;
  accepted_.clear();
  for (const Guess& guess : guessed) {
    if (points.size() == most) {
      break;
    }
    CheckedAlgorithm checked;
    if (rebuild_algorithm(problem_, product_, guess.config, checked).is_ok()) {
      points.push_back(point_of(guess.config, guess.us));
      points.back().id = static_cast<std::uint32_t>(accepted_.size());
      accepted_.push_back(guess.config);
    }
  }
  return points;
}

Config CublasltSpace::config(const ConfigPoint& point) const {
  return to_config(accepted_.at(point.id));
}

std::optional<ConfigPoint> CublasltSpace::locate(const Config& config) const {
  const auto attributes = cublaslt_from_config(config);
  if (!attributes) {
    return std::nullopt;
  }
  const Tiling tiling = tiling_of(*attributes);
  return point_of(
      *attributes,
      cost_.total_us(tiling, cost_.step_us(tiling),
                     static_cast<int>(std::max(1U, (*attributes)[kSplitK]))));
}

ConfigPoint CublasltSpace::point_of(const CublasltConfig& config,
                                    double us) const {
  const Tiling tiling = tiling_of(config);
  const std::uint32_t custom = config[kCustom];
  const auto bit = [custom](int place) {
    return static_cast<float>(custom >> place & 1);
  };
  ConfigPoint point;
  point.predicted_ms = static_cast<float>(us / 1e3);
  point.at = {kPerTileDoubling * log2_of(tiling.tile.m),
              kPerTileDoubling * log2_of(tiling.tile.n),
              log2_of(tiling.cluster.m),
              log2_of(tiling.cluster.n),
              kPerSplitDoubling * log2_of(static_cast<int>(config[kSplitK])),
              bit(0),
              bit(1),
              bit(2),
              static_cast<float>(custom >> 3),
              kPerStage * static_cast<float>(config[kStages]),
              kPerFamily * static_cast<float>(config.id),
              log2_of(static_cast<int>(config[kReduction]) + 1) +
                  static_cast<float>(config[kSwizzle])};
  return point;
}

}  // namespace tunedops::cuda
