#include "kernels/gemm/cuda/cublaslt_space.h"

#include <algorithm>
#include <cmath>

#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_family_config.h"
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

CublasltSpace::CublasltSpace(const GemmProblem& problem,
                             CublasltCatalogue& catalogue)
    : problem_(problem), catalogue_(catalogue), product_(problem),
      cost_(problem, device_facts(problem.header.device_index).multiprocessors,
            device_facts(problem.header.device_index).bytes_per_us) {}

std::size_t CublasltSpace::workspace_bytes() const {
  return workspace_cap(problem_);
}

// What splitting k makes of an algorithm, itself first. Whether the library
// accepts a split shows when it is tried.
void CublasltSpace::add_guesses(const UnsplitAlgorithm& algorithm,
                                std::vector<Guess>& guesses) const {
  const Tiling tiling = tiling_of(algorithm.config);
  const double step_us = cost_.step_us(tiling);
  const std::int64_t k_bytes =
      problem_.k * static_cast<std::int64_t>(size_of(problem_.a_dtype));
  Guess guess{.config = algorithm.config};
  const auto add = [&](std::uint32_t splits) {
    guess.us = static_cast<float>(
        cost_.total_us(tiling, step_us, static_cast<int>(splits)));
    guesses.push_back(guess);
  };
  add(1);
  for (const std::uint32_t splits : kSplits) {
    if (k_bytes < kLeastBytesOfSplit * splits) {
      break;
    }
    guess.config[kSplitK] = splits;
    for (const std::uint32_t reduction : kReductions) {
      guess.config[kReduction] = reduction;
      if ((reduction & algorithm.reductions) != 0 &&
          cublaslt_allowed(problem_, guess.config).is_ok()) {
        add(splits);
      }
    }
  }
}

std::vector<ConfigPoint> CublasltSpace::points(std::size_t most) {
  const DeviceGuard device(problem_.header.device_index);
  std::vector<Guess> guesses;
  for (const UnsplitAlgorithm& algorithm :
       *catalogue_.algorithms(problem_, product_)) {
    add_guesses(algorithm, guesses);
  }
  const auto by_time = [](const Guess& left, const Guess& right) {
    return left.us < right.us;
  };
  if (guesses.size() > most) {
    std::nth_element(guesses.begin(),
                     guesses.begin() + static_cast<std::ptrdiff_t>(most),
                     guesses.end(), by_time);
    guesses.resize(most);
  }
  std::stable_sort(guesses.begin(), guesses.end(), by_time);
  std::vector<ConfigPoint> points;
  configs_.clear();
  for (const Guess& guess : guesses) {
    points.push_back(point_of(guess.config, guess.us));
    points.back().id = static_cast<std::uint32_t>(configs_.size());
    configs_.push_back(guess.config);
  }
  return points;
}

Config CublasltSpace::config(const ConfigPoint& point) const {
  return to_config(configs_.at(point.id));
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
