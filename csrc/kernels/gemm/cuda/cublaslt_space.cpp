#include "kernels/gemm/cuda/cublaslt_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "kernels/gemm/cuda/cublaslt_algorithm.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops::cuda {
namespace {

using enum CublasltAttribute;

constexpr std::uint32_t kSplits[] = {2,  3,  4,  5,  6,  7,  8,  10, 12, 14, 16,
                                     20, 24, 28, 32, 40, 48, 64, 80, 96, 128};
constexpr std::int64_t kLeastBytesOfSplit = 256;  // along k

// Of the splits of an algorithm so many are worth a point.
constexpr std::size_t kSplitsOfEach = 3;

// A family is tried at so many places before it is given up.
constexpr std::size_t kTries = 128;

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

bool CublasltSpace::is_accepted(const CublasltConfig& config) const {
  CheckedAlgorithm checked;
  return rebuild_algorithm(problem_, product_, config, checked).is_ok();
}

// What splitting k makes of an algorithm, itself first.
std::vector<CublasltSpace::Guess>
CublasltSpace::split_guesses(const CublasltConfig& unsplit,
                             std::uint32_t reductions) const {
  const Tiling tiling = tiling_of(unsplit);
  const double step_us = cost_.step_us(tiling);
  const std::int64_t k_bytes =
      problem_.k * static_cast<std::int64_t>(size_of(problem_.a_dtype));
  std::vector<Guess> guesses;
  Guess guess{.config = unsplit};
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
      if ((reduction & reductions) != 0 &&
          cublaslt_allowed(problem_, guess.config).is_ok()) {
        add(splits);
      }
    }
  }
  return guesses;
}

// Of a family's algorithms, with the best that splitting can make of them.
// Nothing for a family that has none for this problem: most do not.
std::vector<CublasltSpace::Guess>
CublasltSpace::unsplit_guesses(const CublasltFamily& family) const {
  const std::vector<CublasltConfig> configs = unsplit_configs(family);
  const std::size_t stride = std::max<std::size_t>(1, configs.size() / kTries);
  bool is_alive = false;
  for (std::size_t i = 0; i < configs.size() && !is_alive; i += stride) {
    is_alive = is_accepted(configs[i]);
  }
  std::vector<Guess> guesses;
  for (std::size_t i = 0; i < configs.size() && is_alive; ++i) {
    Guess best{.us = std::numeric_limits<float>::infinity(),
               .config = configs[i]};
    for (const Guess& guess : split_guesses(configs[i], family.reductions)) {
      best.us = std::min(best.us, guess.us);
    }
    guesses.push_back(best);
  }
  return guesses;
}

std::vector<ConfigPoint> CublasltSpace::points(std::size_t most) {
  const DeviceGuard device(problem_.header.device_index);
  const auto by_time = [](const Guess& left, const Guess& right) {
    return left.us < right.us;
  };
  std::vector<Guess> unsplit;
  std::map<std::int32_t, std::uint32_t> reductions;  // by family
  for (const CublasltFamily& family : cublaslt_families(product_)) {
    const std::vector<Guess> guesses = unsplit_guesses(family);
    unsplit.insert(unsplit.end(), guesses.begin(), guesses.end());
    reductions[family.id] = family.reductions;
  }
  std::stable_sort(unsplit.begin(), unsplit.end(), by_time);
  // Whether a split is accepted shows when it is tried.
  std::vector<Guess> guesses;
  std::size_t accepted = 0;
  for (const Guess& each : unsplit) {
    if (accepted >= most / kSplitsOfEach) {
      break;
    }
    if (is_accepted(each.config)) {
      ++accepted;
      const std::vector<Guess> splits =
          split_guesses(each.config, reductions[each.config.id]);
      guesses.insert(guesses.end(), splits.begin(), splits.end());
    }
  }
  std::stable_sort(guesses.begin(), guesses.end(), by_time);
  guesses.resize(std::min(most, guesses.size()));
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
