// What is proposed of the configs that cut a product into tiles, and what a
// search is told of them.

#include "kernels/gemm/cuda/tiled_config.h"

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

TiledConfig tiled(int number, double us) {
  return {.config = Config().with("number", number),
          .us = us,
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
  const auto sorted = fastest_first({tiled(0, 30), tiled(1, 10), tiled(2, 20)});
  EXPECT_EQ(numbers(proposals(sorted)), (std::vector<std::int64_t>{1, 2, 0}));
}

TEST(TiledConfig, WhatIsTheSameToTheModelStaysInOrder) {
  std::vector<TiledConfig> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(tiled(i, i < 97 ? 20 : 10));
  }
  EXPECT_EQ(numbers(proposals(fastest_first(all))),
            (std::vector<std::int64_t>{97, 98, 99, 0, 1, 2}))
      << "and six are proposed";
  EXPECT_TRUE(proposals({}).empty());
}

TEST(TiledConfig, ASearchLearnsWhatTheModelSaysAndWhereTheyLie) {
  const TiledConfig x = tiled(5, 250);
  const auto sorted = fastest_first({x});
  ASSERT_EQ(sorted.size(), 1U);
  EXPECT_EQ(sorted[0].config, x.config);
  EXPECT_EQ(sorted[0].point.at, x.at);
  EXPECT_FLOAT_EQ(sorted[0].point.predicted_ms, 0.25F);
}

}  // namespace
}  // namespace tunedops::cuda
