// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Sm90 offers for one fits a launch and its workspace and leads back
// to itself, and no config of a file makes it compute out of range. Meant for
// the sanitizer builds too.

#include "kernels/gemm/cuda/sm90_config.h"

#include <limits>

#include <gtest/gtest.h>

#include "kernels/gemm/cuda/half_layout.h"
#include "random_gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr std::size_t kCap = std::size_t{32} << 20;
constexpr std::size_t kMostOwnWorkspace = std::size_t{512} << 20;

/// Around a config that could be one.
Config random_config(RandomGpuProblems& random) {
  const Config config =
      Config()
          .with("tile",
                {random.or_any(64 << random.below(3)),
                 random.or_any(64 << random.below(3)), random.or_any(64)})
          .with("cluster",
                {random.or_any(1 + random.below(2)), random.or_any(1),
                 random.or_any(1 + random.below(2))})
          .with("stages", random.or_any(2 + random.below(6)))
          .with("splitk", random.or_any(random.size(5)))
          .with("turned", random.or_any(random.below(2)))
          .with("packed", random.or_any(random.below(2)));
  switch (random.below(4)) {
  case 0:
    return config.with("aside", random.or_any(1));
  case 1:
    return config.with("streamk", random.or_any(2 + random.below(200)));
  default:
    return config;
  }
}

void expect_fits(const GemmProblem& p, const Sm90Parameters& x) {
  EXPECT_LE(sm90_splits(p, x).workspace_bytes(),
            x.streams > 0 ? kMostOwnWorkspace : kCap);
  EXPECT_LE(sm90_splits(p, x).blocks(),
            std::numeric_limits<std::int32_t>::max());
  EXPECT_LE(sm90_splits(p, x).counters(), kMostCounters);
  const HalfLayout layout = sm90_layout(p, x);
  for (const HalfLines& access : {layout.a, layout.b}) {
    EXPECT_TRUE(access.is_aligned || !x.packed);
    if (access.is_aligned) {  // what the driver wants of a tensor
      EXPECT_EQ(access.line_stride % 8, 0);
      EXPECT_EQ(access.matrix_stride % 8, 0);
    }
  }
  EXPECT_LE(sm90_shared_bytes(sm90_stage_bytes(p, x), x.stages,
                              sm90_output_bytes(p, x)),
            kSm90MostSharedBytes);
  EXPECT_LE(sm90_packed(p, x).bytes(), kMostOwnWorkspace);
  EXPECT_EQ(sm90_packed(p, x).bytes() > 0, x.packed);
  const auto again = sm90_from_config(p, kCap, to_config(x));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_config(*again), to_config(x));
}

TEST(Sm90ConfigRandom, WhatIsOfferedCanRun) {
  RandomGpuProblems random(1);
  int supported = 0;
  for (int i = 0; i < 3000; ++i) {
    const GemmProblem p = random.next();
    if (!sm90_supports(p, kCap).is_ok()) {
      continue;
    }
    ++supported;
    const auto all = all_sm90_parameters(p, 132, kCap);
    EXPECT_FALSE(all.empty());
    for (const Sm90Parameters& x : all) {
      expect_fits(p, x);
    }
  }
  EXPECT_GT(supported, 100);
}

TEST(Sm90ConfigRandom, WhatAFileSaysIsRefusedOrCanRun) {
  RandomGpuProblems random(2);
  int taken = 0;
  int streamed = 0;
  for (int i = 0; i < 30000; ++i) {
    const GemmProblem p = random.next();
    const Config config = random_config(random);
    if (!sm90_supports(p, kCap).is_ok()) {
      continue;  // a context asks for that first
    }
    if (const auto x = sm90_from_config(p, kCap, config)) {
      ++taken;
      expect_fits(p, *x);
    }
    // One that can run, but for how many streams a file says.
    const auto all = all_sm90_parameters(p, 132, kCap);
    Sm90Parameters x = all[static_cast<std::size_t>(
        random.below(static_cast<int>(all.size())))];
    x.splits = x.cluster_k = 1;
    x.aside = false;
    x.streams = static_cast<int>(random.or_any(1 + random.below(300)));
    if (const auto again = sm90_from_config(p, kCap, to_config(x))) {
      streamed += again->streams > 0 ? 1 : 0;
      expect_fits(p, *again);
    }
  }
  EXPECT_GT(taken, 5);
  EXPECT_GT(streamed, 100);
}

}  // namespace
}  // namespace tunedops::cuda
