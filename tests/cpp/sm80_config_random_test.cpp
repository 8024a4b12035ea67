// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Sm80 offers for one fits a launch and its workspace and leads back
// to itself, and no config of a file makes it compute out of range. Meant for
// the sanitizer builds too.

#include "kernels/gemm/cuda/sm80_config.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

class RandomProblems {
 public:
  explicit RandomProblems(unsigned seed) : engine_(seed) {}

  GemmProblem next() {
    const int most = chance(3) ? 62 : 16;
    GemmProblem p = gpu_problem(size(most), size(most), size(most), chance(2));
    p.a_dtype = p.b_dtype = p.out_dtype =
        chance(2) ? DType::kBFloat16 : DType::kFloat16;
    p.transpose_b = chance(2);
    p.lda = chance(2) ? size(62) : (p.transpose_a ? p.k : p.m) + size(3);
    p.ldb = chance(2) ? size(62) : (p.transpose_b ? p.n : p.k) + size(3);
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

  Sm80Limits limits() {
    const int kilobytes[] = {48, 64, 99, 163, 227};
    return {.multiprocessors = static_cast<int>(1 + engine_() % 256),
            .shared_bytes = static_cast<std::size_t>(
                (kilobytes[engine_() % 5] << 10) - 256),
            .workspace_cap = static_cast<std::size_t>(size(28))};
  }

  Config config() {
    const auto number = [&](std::int64_t usual) {
      return chance(6) ? size(62) * (chance(2) ? 1 : -1) : usual;
    };
    return Config()
        .with("tile", {number(64 << engine_() % 2), number(64 << engine_() % 2),
                       number(32)})
        .with("stages", number(2 + engine_() % 6))
        .with("splitk", number(size(5)))
        .with("turned", number(engine_() % 2));
  }

 private:
  bool chance(unsigned of) { return engine_() % of == 0; }
  std::int64_t size(int bits) {
    const std::int64_t most = (std::int64_t{1} << (1 + engine_() % bits)) - 1;
    return std::uniform_int_distribution<std::int64_t>(1, most)(engine_);
  }
  std::uint8_t alignment() {
    return static_cast<std::uint8_t>(1U << engine_() % 5);
  }
  std::mt19937_64 engine_;
};

void expect_fits(const GemmProblem& p, const Sm80Limits& limits,
                 const Sm80Parameters& x) {
  EXPECT_LE(sm80_workspace_bytes(p, x), limits.workspace_cap);
  EXPECT_LE(sm80_block_bytes(p, x), limits.shared_bytes);
  EXPECT_LE(sm80_tiles(p, x) * p.batch * x.splits,
            std::numeric_limits<std::int32_t>::max());
  if (x.splits > 1) {
    EXPECT_LE(sm80_tiles(p, x) * p.batch,
              static_cast<std::int64_t>(kMostCounters));
    EXPECT_LE(x.splits, (p.k + 31) / 32) << "an empty split";
  }
  const Sm80Layout layout = sm80_layout(p);
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
  RandomProblems problems(1);
  int supported = 0;
  for (int i = 0; i < 5000; ++i) {
    const GemmProblem p = problems.next();
    const Sm80Limits limits = problems.limits();
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
  RandomProblems problems(2);
  int taken = 0;
  for (int i = 0; i < 30000; ++i) {
    const GemmProblem p = problems.next();
    const Sm80Limits limits = problems.limits();
    const Config config = problems.config();
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
