// What is proposed of the configs that cut a product into tiles, and what a
// search is told of them.

#include "kernels/gemm/cuda/tiled_config.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

const TilingCost kCost(gpu_problem(4096, 4096, 4096), 132, 4.0e6);

TiledConfig tiled(int number, TileSize tile, int splits = 1) {
  return {.config = Config().with("number", number),
          .tiling = {.tile = tile},
          .splits = splits,
          .at = {static_cast<float>(number)}};
}

std::vector<std::int64_t> numbers(const std::vector<Config>& configs) {
  std::vector<std::int64_t> found;
  for (const Config& config : configs) {
    found.push_back(config.at("number"));
  }
  return found;
}

TEST(TiledConfig, TheFastestByTheModelIsFirst) {
  const std::vector<TiledConfig> all{tiled(0, {8, 8}), tiled(1, {128, 256}),
                                     tiled(2, {64, 64})};
  const auto sorted = fastest_first(kCost, all);
  EXPECT_EQ(numbers(proposals(sorted)), (std::vector<std::int64_t>{1, 2, 0}));
}

TEST(TiledConfig, WhatIsTheSameToTheModelStaysInOrder) {
  std::vector<TiledConfig> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(tiled(i, i < 97 ? TileSize{64, 64} : TileSize{128, 128}));
  }
  EXPECT_EQ(numbers(proposals(fastest_first(kCost, all))),
            (std::vector<std::int64_t>{97, 98, 99, 0, 1, 2}))
      << "and six are proposed";
  EXPECT_TRUE(proposals({}).empty());
}

TEST(TiledConfig, ASearchLearnsWhatTheModelSaysAndWhereTheyLie) {
  const TiledConfig x = tiled(5, {128, 128}, 4);
  const auto sorted = fastest_first(kCost, {x});
  ASSERT_EQ(sorted.size(), 1U);
  EXPECT_EQ(sorted[0].config, x.config);
  EXPECT_EQ(sorted[0].point.at, x.at);
  const double us = kCost.total_us(x.tiling, kCost.step_us(x.tiling), 4);
  EXPECT_FLOAT_EQ(sorted[0].point.predicted_ms, static_cast<float>(us / 1000));
}

}  // namespace
}  // namespace tunedops::cuda
