// The search on what an H200 really took: eight products, each with some 850
// algorithms of cuBLASLt that were all timed. How close does a number of trials
// come to the best of them? Without a GPU, and so for every change of the
// searcher or of the cost model.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gemm/cuda/cublaslt_family_config.h"
#include "tuning/searcher.h"

namespace tunedops::cuda {
namespace {

using enum CublasltAttribute;
using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // m, n, k

constexpr int kMultiprocessors = 132;
constexpr double kBytesPerUs = 4.17e6;
constexpr double kNoise = 0.015;
constexpr int kSeeds = 5;
constexpr float kLoadMs = 3;
constexpr double kTrialMs = 0.4;

struct Landscape {
  std::vector<ConfigPoint> points;
  std::vector<double> us;
  std::vector<bool> is_proposed;

  double best() const { return *std::min_element(us.begin(), us.end()); }
};

std::map<Size, Landscape> read_landscapes() {
  std::map<Size, Landscape> landscapes;
  std::ifstream file(std::string(TUNEDOPS_TEST_DATA) + "/cublaslt_h200.csv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#' || line.front() == 'm') {
      continue;
    }
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    GemmProblem p;
    p.a_dtype = p.b_dtype = p.out_dtype = DType::kBFloat16;
    CublasltConfig config{.id = 66};
    config[kStages] = 35;
    double us = 0;
    bool is_proposed = false;
    fields >> p.m >> p.n >> p.k >> config[kTile] >> config[kCustom] >>
        config[kCluster] >> config[kSplitK] >> us >> is_proposed;
    EXPECT_FALSE(fields.fail()) << line;
    config[kReduction] = config[kSplitK] > 1 ? 2 : 0;
    const TilingCost cost(p, kMultiprocessors, kBytesPerUs);
    const Tiling tiling = tiling_of(config);
    Landscape& landscape = landscapes[{p.m, p.n, p.k}];
    landscape.points.push_back(
        {.predicted_ms = static_cast<float>(
             cost.total_us(tiling, cost.step_us(tiling),
                           static_cast<int>(config[kSplitK])) /
             1000),
         .at = coordinates_of(config),
         .code = code_of(config)});
    landscape.us.push_back(us);
    landscape.is_proposed.push_back(is_proposed);
  }
  return landscapes;
}

// All that the library says of this family.
CublasltFamily hopper_family() {
  CublasltFamily family{
      .id = 66, .tiles = {}, .stages = {35}, .most_custom = 7, .reductions = 2};
  for (std::uint32_t tile = 1; tile_size(tile).m > 0; ++tile) {
    family.tiles.push_back(tile);
  }
  return family;
}

// How much longer than the best the best that was tried takes.
double regret(const Landscape& landscape, int trials, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(0, kNoise);
  Searcher searcher(landscape.points);
  double best = INFINITY;
  const auto measure = [&](std::size_t i) {
    searcher.rule_out(i);
    searcher.learn(landscape.points[i],
                   landscape.us[i] / 1000 * std::exp(noise(engine)));
    best = std::min(best, landscape.us[i]);
  };
  for (std::size_t i = 0; i < landscape.points.size(); ++i) {
    if (landscape.is_proposed[i]) {
      measure(i);
    }
  }
  for (int trial = 0; trial < trials; ++trial) {
    measure(searcher.next()->index);
  }
  return best / landscape.best() - 1;
}

// The same with the time that trials take; codes that were loaded before cost
// less, and `loaded` grows.
double regret_in(const Landscape& landscape, double budget_ms, unsigned seed,
                 std::set<std::uint64_t>& loaded) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(0, kNoise);
  std::vector<ConfigPoint> points = landscape.points;
  for (ConfigPoint& point : points) {
    point.load_ms = loaded.contains(point.code) ? 0 : kLoadMs;
  }
  Searcher searcher(points);
  double best_us = INFINITY;
  double left_ms = budget_ms;
  const auto measure = [&](std::size_t i) {
    left_ms -= kTrialMs + (loaded.contains(points[i].code) ? 0 : kLoadMs);
    searcher.rule_out(i);
    searcher.learn(points[i], landscape.us[i] / 1000 * std::exp(noise(engine)));
    loaded.insert(points[i].code);
    searcher.set_loaded(i);
    best_us = std::min(best_us, landscape.us[i]);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (landscape.is_proposed[i]) {
      measure(i);
    }
  }
  while (left_ms > 0) {
    const auto next =
        searcher.next({.best_ms = best_us / 1000, .trial_ms = kTrialMs});
    if (!next) {
      break;
    }
    measure(next->index);
  }
  return best_us / landscape.best() - 1;
}

double mean_regret(const Landscape& landscape, int trials) {
  double sum = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    sum += regret(landscape, trials, seed);
  }
  return sum / kSeeds;
}

TEST(SearchReplay, EightyTrialsFindWhatTheHeuristicMisses) {
  const auto landscapes = read_landscapes();
  ASSERT_EQ(landscapes.size(), 8U);
  double before = 0;
  double after = 0;
  for (const auto& [size, landscape] : landscapes) {
    const auto [m, n, k] = size;
    before += mean_regret(landscape, 0);
    const double left = mean_regret(landscape, 80);
    after += left;
    EXPECT_LT(left, 0.015) << m << 'x' << n << 'x' << k;
  }
  EXPECT_GT(before / 8, 0.05) << "of what the heuristic proposes";
  EXPECT_LT(after / 8, 0.004);
}

TEST(SearchReplay, HalfAsManyTrialsFindMostOfIt) {
  double sum = 0;
  for (const auto& [size, landscape] : read_landscapes()) {
    sum += mean_regret(landscape, 40);
  }
  EXPECT_LT(sum / 8, 0.015);
}

// What earlier products loaded costs little, and so leaves time for more.
TEST(SearchReplay, TwoHundredMillisecondsAreEnough) {
  double alone = 0;
  double later = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::set<std::uint64_t> loaded;
    for (const auto& [size, landscape] : read_landscapes()) {
      std::set<std::uint64_t> nothing;
      alone += regret_in(landscape, 200, seed, nothing);
      later += regret_in(landscape, 200, seed, loaded);
    }
  }
  EXPECT_LT(alone / (8 * kSeeds), 0.004);
  EXPECT_LT(later / (8 * kSeeds), 0.004);
}

// A search looks at the few thousand that the model finds best. The fastest
// must be among them, of the two hundred thousand that there are.
TEST(SearchReplay, TheFastestAreAmongTheFirstThousandOfAll) {
  for (const auto& [size, landscape] : read_landscapes()) {
    GemmProblem p;
    p.a_dtype = p.b_dtype = p.out_dtype = DType::kBFloat16;
    std::tie(p.m, p.n, p.k) = size;
    const TilingCost cost(p, kMultiprocessors, kBytesPerUs);
    const auto fastest = static_cast<std::size_t>(
        std::min_element(landscape.us.begin(), landscape.us.end()) -
        landscape.us.begin());
    const double predicted_us =
        1000 * double{landscape.points[fastest].predicted_ms};
    int before = 0;
    for (const CublasltConfig& config : unsplit_configs(hopper_family())) {
      const Tiling tiling = tiling_of(config);
      const double step_us = cost.step_us(tiling);
      for (const int splits : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
        before += cost.total_us(tiling, step_us, splits) < predicted_us ? 1 : 0;
      }
    }
    EXPECT_LT(before, 1000) << p.m << 'x' << p.n << 'x' << p.k;
  }
}

TEST(CublasltFamily, HasTheCombinationsThatTheLibraryAccepts) {
  // Counted by asking cuBLASLt 13 about every combination.
  EXPECT_EQ(unsplit_configs(hopper_family()).size(), 11448U);
}

}  // namespace
}  // namespace tunedops::cuda
