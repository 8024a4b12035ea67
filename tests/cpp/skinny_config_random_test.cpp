// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Skinny offers for one always fits a launch and leads back to
// itself, and no config of a file makes it compute out of range. Meant for the
// sanitizer builds too.

#include "kernels/gemm/cuda/skinny_config.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

class RandomGpuProblems {
 public:
  explicit RandomGpuProblems(unsigned seed) : engine_(seed) {}

  GemmProblem next() {
    GemmProblem p = gpu_problem(size(40), size(40), size(40), chance(2));
    constexpr DType kTypes[] = {DType::kBFloat16, DType::kFloat16,
                                DType::kFloat32};
    p.a_dtype = p.b_dtype = p.out_dtype = kTypes[engine_() % 3];
    (chance(2) ? p.m : p.n) = size(5);
    p.transpose_b = chance(2);
    p.lda = size(40);
    p.ldb = size(40);
    if (chance(2)) {
      p.batched = true;
      p.batch = size(chance(2) ? 10 : 40);
      p.stride_a = chance(3) ? 0 : size(62);
      p.stride_b = chance(3) ? 0 : size(62);
    }
    p.align_a = alignment();
    p.align_b = alignment();
    return p;
  }

  SkinnyLimits limits() {
    return {.multiprocessors = static_cast<int>(1 + engine_() % 256),
            .most_cluster = chance(2) ? kMostCluster : 1};
  }

  /// Around a config that could be one.
  Config config() {
    const auto number = [&](std::int64_t usual) {
      return chance(4) ? size(62) * (chance(2) ? 1 : -1) : usual;
    };
    const std::int64_t splits = number(size(6));
    return Config()
        .with("rows", number(std::int64_t{16} << engine_() % 3))
        .with("warps", {number(size(3)), number(size(3))})
        .with("splitk", splits)
        .with("cluster", chance(2) ? splits : number(1));
  }

 private:
  bool chance(unsigned one_in) { return engine_() % one_in == 0; }

  /// 1 to two to the power of `bits`, every magnitude as often.
  std::int64_t size(int bits) {
    const int magnitude = static_cast<int>(engine_() % (bits + 1));
    const std::uint64_t below = std::uint64_t{1} << magnitude;
    return static_cast<std::int64_t>(chance(4) ? below : 1 + engine_() % below);
  }

  std::uint8_t alignment() {
    return static_cast<std::uint8_t>(chance(2) ? 16 : 4U << engine_() % 3);
  }

  std::mt19937_64 engine_;
};

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
    EXPECT_EQ(skinny_workspace_bytes(p, x),
              sizeof(float) *
                  static_cast<std::size_t>(blocks * x.splits * x.rows *
                                           x.warps_wide * narrow));
  }
}

TEST(SkinnyConfigRandom, WhatIsOfferedFitsAndLeadsBackToItself) {
  RandomGpuProblems random(21);
  int supported = 0;
  for (int i = 0; i < 5000; ++i) {
    const GemmProblem p = random.next();
    const SkinnyLimits limits = random.limits();
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
  for (int i = 0; i < 5000; ++i) {
    const GemmProblem p = random.next();
    if (!skinny_supports(p).is_ok()) {
      continue;
    }
    for (int j = 0; j < 8; ++j) {
      const SkinnyLimits limits = random.limits();
      const Config config = random.config();
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
