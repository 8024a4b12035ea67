// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Sm80 offers for one fits a launch and its workspace and leads back
// to itself, and no config of a file makes it compute out of range. Meant for
// the sanitizer builds too.

#include "kernels/gemm/cuda/sm80_config.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "random_gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

Sm80Limits random_limits(RandomGpuProblems& random) {
  const int kilobytes[] = {48, 64, 99, 163, 227};
  return {.multiprocessors = 1 + random.below(256),
          .shared_bytes = static_cast<std::size_t>(
              (kilobytes[random.below(5)] << 10) - 256),
          .workspace_cap = static_cast<std::size_t>(random.size(28))};
}

/// Around a config that could be one.
Config random_config(RandomGpuProblems& random) {
  return Config()
      .with("tile", {random.or_any(64 << random.below(2)),
                     random.or_any(64 << random.below(2)), random.or_any(32)})
      .with("stages", random.or_any(2 + random.below(6)))
      .with("splitk", random.or_any(random.size(5)))
      .with("turned", random.or_any(random.below(2)));
}

void expect_fits(const GemmProblem& p, const Sm80Limits& limits,
                 const Sm80Parameters& x) {
  EXPECT_LE(sm80_splits(p, x).workspace_bytes(), limits.workspace_cap);
  EXPECT_LE(sm80_block_bytes(p, x), limits.shared_bytes);
  EXPECT_LE(sm80_splits(p, x).blocks(),
            std::numeric_limits<std::int32_t>::max());
  if (x.splits > 1) {
    EXPECT_LE(sm80_splits(p, x).tiles * p.batch,
              static_cast<std::int64_t>(kMostCounters));
    EXPECT_LE(x.splits, (p.k + 31) / 32) << "an empty split";
  }
  const HalfLayout layout = sm80_layout(p);
  for (const auto& [access, align] :
       {std::pair{layout.a, p.align_a}, std::pair{layout.b, p.align_b}}) {
    if (access.is_aligned) {
      EXPECT_GE(align, 16);
      EXPECT_EQ(access.line_stride % 8, 0);
      EXPECT_EQ(access.matrix_stride % 8, 0);
    }
  }
  EXPECT_TRUE(layout.a.is_aligned == layout.b.is_aligned ||
              !layout.a.k_is_contiguous || !layout.b.k_is_contiguous)
      << "no kernel has this";
  const auto again = sm80_from_config(p, limits, to_config(x));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_config(*again), to_config(x));
}

TEST(Sm80ConfigRandom, WhatIsOfferedCanRun) {
  RandomGpuProblems random(1);
  int supported = 0;
  for (int i = 0; i < 5000; ++i) {
    const GemmProblem p = random.next();
    const Sm80Limits limits = random_limits(random);
    if (!sm80_supports(p, limits).is_ok()) {
      continue;
    }
    ++supported;
    std::vector<Config> configs;
    bool has_usual = false;
    for (const Sm80Parameters& x : all_sm80_parameters(p, limits)) {
      expect_fits(p, limits, x);
      configs.push_back(to_config(x));
      ASSERT_EQ(std::count(configs.begin(), configs.end(), configs.back()), 1)
          << configs.back().to_text();
      has_usual = has_usual || x.stages == sm80_usual_stages(p, x, limits);
    }
    EXPECT_TRUE(has_usual) << "nothing to propose";
  }
  EXPECT_GT(supported, 500);
}

TEST(Sm80ConfigRandom, WhatAFileSaysIsRefusedOrCanRun) {
  RandomGpuProblems random(2);
  int taken = 0;
  for (int i = 0; i < 30000; ++i) {
    const GemmProblem p = random.next();
    const Sm80Limits limits = random_limits(random);
    const Config config = random_config(random);
    if (!sm80_supports(p, limits).is_ok()) {
      continue;  // a context asks for that first
    }
    if (const auto x = sm80_from_config(p, limits, config)) {
      ++taken;
      expect_fits(p, limits, *x);
      EXPECT_EQ(to_config(*x), config);
    }
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace tunedops::cuda
