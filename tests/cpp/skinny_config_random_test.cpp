// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Skinny offers for one always fits a launch and leads back to
// itself, and no config of a file makes it compute out of range. Meant for the
// sanitizer builds too.

#include "kernels/gemm/cuda/skinny_config.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "random_gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

/// With one narrow side.
GemmProblem random_problem(RandomGpuProblems& random) {
  GemmProblem p = random.next();
  (random.chance(2) ? p.m : p.n) = random.size(5);
  if (random.chance(3)) {
    p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat32;
  }
  return p;
}

SkinnyLimits random_limits(RandomGpuProblems& random) {
  return {.multiprocessors = 1 + random.below(256),
          .most_cluster = random.chance(2) ? kMostCluster : 1};
}

/// Around a config that could be one.
Config random_config(RandomGpuProblems& random) {
  const std::int64_t splits = random.or_any(random.size(6));
  return Config()
      .with("rows", random.or_any(16 << random.below(3)))
      .with("warps",
            {random.or_any(random.size(3)), random.or_any(random.size(3))})
      .with("splitk", splits)
      .with("cluster", random.chance(2) ? splits : random.or_any(1));
}

void expect_fits(const GemmProblem& p, const SkinnyLimits& limits,
                 const SkinnyParameters& x) {
  const std::int64_t narrow = std::min(p.m, p.n);
  const std::int64_t blocks = skinny_tiles(p, x) * p.batch;
  EXPECT_GE(blocks, 1);
  EXPECT_LE(blocks, std::numeric_limits<std::int32_t>::max());
  EXPECT_GE((skinny_tiles(p, x)) * x.rows * x.warps_wide, std::max(p.m, p.n));
  EXPECT_LE(32 * x.warps_wide * x.warps_k, kMostSkinnyThreads);
  EXPECT_LE(skinny_shared_bytes(x.warps_k, x.rows * x.warps_wide,
                                static_cast<int>(narrow)),
            48U << 10);
  EXPECT_TRUE(x.cluster == 1 || x.cluster == x.splits);
  EXPECT_LE(x.cluster, limits.most_cluster);
  EXPECT_GE(x.splits, 1);
  if (x.splits > 1) {
    const std::int64_t each = skinny_k_of_split(p, x.splits);
    EXPECT_EQ(each % 128, 0) << "whole stages";
    EXPECT_GE(each * x.splits, p.k) << "all of k";
    EXPECT_LT(each * (x.splits - 1), p.k) << "an empty split";
  }
  if (x.splits != x.cluster) {
    EXPECT_LE(blocks, static_cast<std::int64_t>(kMostCounters));
    EXPECT_EQ(skinny_splits(p, x).workspace_bytes(),
              sizeof(float) *
                  static_cast<std::size_t>(blocks * x.splits * x.rows *
                                           x.warps_wide * narrow));
  }
}

TEST(SkinnyConfigRandom, WhatIsOfferedFitsAndLeadsBackToItself) {
  RandomGpuProblems random(21);
  int supported = 0;
  for (int i = 0; i < 7000; ++i) {
    const GemmProblem p = random_problem(random);
    const SkinnyLimits limits = random_limits(random);
    (void)skinny_variant(p);
    if (!skinny_supports(p).is_ok()) {
      continue;
    }
    ++supported;
    const auto offered = skinny_parameters(p, limits);
    ASSERT_FALSE(offered.empty());
    std::vector<Config> configs;
    for (const SkinnyParameters& x : offered) {
      const Config config = to_config(x);
      ASSERT_EQ(std::count(configs.begin(), configs.end(), config), 0)
          << config.to_text() << " twice";
      configs.push_back(config);
      const auto text = Config::from_text(config.to_text());
      ASSERT_TRUE(text.has_value());
      const auto back = skinny_from_config(p, limits, *text);
      ASSERT_TRUE(back.has_value())
          << config.to_text() << " of m " << p.m << " n " << p.n << " k " << p.k
          << " batch " << p.batch;
      EXPECT_EQ(to_config(*back), config);
      expect_fits(p, limits, x);
    }
    ASSERT_FALSE(testing::Test::HasFailure())
        << "m " << p.m << " n " << p.n << " k " << p.k << " batch " << p.batch;
  }
  EXPECT_GT(supported, 2000);
}

TEST(SkinnyConfigRandom, WhatIsAcceptedFits) {
  RandomGpuProblems random(22);
  int accepted = 0;
  for (int i = 0; i < 7000; ++i) {
    const GemmProblem p = random_problem(random);
    if (!skinny_supports(p).is_ok()) {
      continue;
    }
    for (int j = 0; j < 8; ++j) {
      const SkinnyLimits limits = random_limits(random);
      const Config config = random_config(random);
      if (const auto x = skinny_from_config(p, limits, config)) {
        ++accepted;
        EXPECT_EQ(to_config(*x), config);
        expect_fits(p, limits, *x);
      }
    }
    ASSERT_FALSE(testing::Test::HasFailure())
        << "m " << p.m << " n " << p.n << " k " << p.k << " batch " << p.batch;
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace tunedops::cuda
