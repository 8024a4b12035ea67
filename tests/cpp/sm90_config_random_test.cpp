// Thousands of random problems of every size that a key can have, sound or not:
// what Gemm_Sm90 offers for one fits a launch and its workspace and leads back
// to itself, and no config of a file makes it compute out of range. Meant for
// the sanitizer builds too.

#include "kernels/gemm/cuda/sm90_config.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "gpu_problems.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr std::size_t kCap = std::size_t{32} << 20;

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

  Config config() {
    const auto number = [&](std::int64_t usual) {
      return chance(6) ? size(62) * (chance(2) ? 1 : -1) : usual;
    };
    return Config()
        .with("tile", {number(64 << engine_() % 3), number(64 << engine_() % 3),
                       number(64)})
        .with("cluster",
              {number(1 + engine_() % 2), number(1), number(1 + engine_() % 2)})
        .with("stages", number(2 + engine_() % 6))
        .with("splitk", number(size(5)))
        .with("turned", number(engine_() % 2))
        .with("pingpong", number(engine_() % 2));
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

void check(const GemmProblem& p, const Sm90Parameters& x) {
  EXPECT_LE(sm90_workspace_bytes(p, x), kCap);
  EXPECT_LE(sm90_tiles(p, x) * p.batch * x.splits,
            std::numeric_limits<std::int32_t>::max());
  if (x.splits > 1) {
    EXPECT_LE(sm90_tiles(p, x) * p.batch,
              static_cast<std::int64_t>(kMostCounters));
  }
  const Sm90Layout layout = sm90_layout(p);
  for (const Sm90Access& access : {layout.a, layout.b}) {
    if (access.is_aligned) {  // what the driver wants of a tensor
      EXPECT_EQ(access.line_stride % 8, 0);
      EXPECT_EQ(access.matrix_stride % 8, 0);
    }
  }
  const auto again = sm90_from_config(p, kCap, to_config(x));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_config(*again), to_config(x));
}

TEST(Sm90RandomTest, WhatIsOfferedCanRun) {
  RandomProblems problems(1);
  int supported = 0;
  for (int i = 0; i < 3000; ++i) {
    const GemmProblem p = problems.next();
    const bool is_supported = sm90_supports(p, kCap).is_ok();
    if (!is_supported) {
      continue;
    }
    ++supported;
    const auto all = all_sm90_parameters(p, 132, kCap);
    EXPECT_FALSE(all.empty());
    for (const Sm90Parameters& x : all) {
      check(p, x);
    }
  }
  EXPECT_GT(supported, 100);
}

TEST(Sm90RandomTest, WhatAFileSaysIsRefusedOrCanRun) {
  RandomProblems problems(2);
  int taken = 0;
  for (int i = 0; i < 30000; ++i) {
    const GemmProblem p = problems.next();
    const Config config = problems.config();
    if (!sm90_supports(p, kCap).is_ok()) {
      continue;  // a context asks for that first
    }
    if (const auto x = sm90_from_config(p, kCap, config)) {
      ++taken;
      check(p, *x);
    }
  }
  EXPECT_GT(taken, 5);
}

}  // namespace
}  // namespace tunedops::cuda
