#include "kernels/gemm/cuda/cublaslt_space.h"

#include <algorithm>

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

// What the first launch of a kernel takes; 2 to 4 were seen on machines with an
// H200.
constexpr float kLoadMs = 3;

constexpr std::uint32_t kReductions[] = {CUBLASLT_REDUCTION_SCHEME_INPLACE,
                                         CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                                         CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE};

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
  if (algorithm.reductions == 0) {
    return;
  }
  for (const std::uint32_t splits : splits_of(tiling)) {
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

// Usual ones, and what fills the GPU once or twice. Ascending.
std::vector<std::uint32_t>
CublasltSpace::splits_of(const Tiling& tiling) const {
  std::vector<std::uint32_t> splits(std::begin(kSplits), std::end(kSplits));
  const int filling = cost_.splits_of_a_wave(tiling);
  for (const int more : {filling, 2 * filling}) {
    if (more > 1) {
      splits.push_back(static_cast<std::uint32_t>(more));
    }
  }
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
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
  const std::unordered_set<std::uint64_t> loaded = catalogue_.loaded(problem_);
  std::vector<ConfigPoint> points;
  configs_.clear();
  for (const Guess& guess : guesses) {
    const std::uint64_t code = code_of(guess.config);
    points.push_back({.id = static_cast<std::uint32_t>(configs_.size()),
                      .predicted_ms = guess.us / 1000,
                      .at = coordinates_of(guess.config),
                      .load_ms = loaded.contains(code) ? 0 : kLoadMs,
                      .code = code});
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
  const int splits = static_cast<int>(std::max(1U, (*attributes)[kSplitK]));
  const double us = cost_.total_us(tiling, cost_.step_us(tiling), splits);
  return ConfigPoint{.predicted_ms = static_cast<float>(us / 1000),
                     .at = coordinates_of(*attributes)};
}

void CublasltSpace::set_loaded(const Config& config) {
  if (const auto attributes = cublaslt_from_config(config)) {
    catalogue_.set_loaded(problem_, code_of(*attributes));
  }
}

}  // namespace tunedops::cuda
