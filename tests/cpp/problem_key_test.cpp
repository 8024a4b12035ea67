// Every op's problem is the same 128 bytes to the core: two problems are equal
// exactly if their bytes are, and neighbours must not collide in a cache.

#include "tuning/problem_key.h"

#include <set>

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

TEST(ProblemKey, GivesBackTheProblem) {
  GemmProblem problem = gemm_problem(3, 5, 7);
  problem.activation = Activation::kGelu;
  problem.header.device_index = 3;
  EXPECT_EQ(from_key<GemmProblem>(to_key(problem)), problem);
  EXPECT_EQ(from_key<ScaleProblem>(scale_problem(9)).length, 9);
}

TEST(ProblemKey, KnowsOpAndDeviceOfAnyOp) {
  GemmProblem problem = gemm_problem(3, 5, 7);
  problem.header.device_type = DeviceType::kCuda;
  problem.header.device_index = 2;
  problem.header.precision = kAllowTf32;
  const ProblemHeader header = to_key(problem).header();
  EXPECT_EQ(header.op, kGemmOp);
  EXPECT_EQ(header.device(), (Device{DeviceType::kCuda, 2}));
  EXPECT_EQ(header.threads, 1);
  EXPECT_EQ(header.precision, kAllowTf32);
  EXPECT_EQ(scale_problem(1).header().op, kScaleOp);
  EXPECT_EQ(scale_problem(1).header().device(), Device{});
}

// Upstream left the activation, the alignment and more out of its keys, so one
// row served problems that need different kernels.
TEST(ProblemKey, EveryFieldMakesAnotherProblem) {
  const std::vector<void (*)(GemmProblem&)> changes{
      [](GemmProblem& p) { p.header.device_index = 1; },
      [](GemmProblem& p) { p.header.device_type = DeviceType::kCuda; },
      [](GemmProblem& p) { p.header.threads = 2; },
      [](GemmProblem& p) { p.header.precision = kDeterministic; },
      [](GemmProblem& p) { p.a_dtype = DType::kFloat64; },
      [](GemmProblem& p) { p.b_dtype = DType::kFloat64; },
      [](GemmProblem& p) { p.out_dtype = DType::kFloat64; },
      [](GemmProblem& p) { p.bias_dtype = DType::kFloat32; },
      [](GemmProblem& p) { p.transpose_a = true; },
      [](GemmProblem& p) { p.transpose_b = true; },
      [](GemmProblem& p) { p.conjugate_a = true; },
      [](GemmProblem& p) { p.conjugate_b = true; },
      [](GemmProblem& p) { p.activation = Activation::kRelu; },
      [](GemmProblem& p) { p.alpha = ScalarClass::kAny; },
      [](GemmProblem& p) { p.beta = ScalarClass::kOne; },
      [](GemmProblem& p) { p.batched = true; },
      [](GemmProblem& p) { p.align_a = 8; },
      [](GemmProblem& p) { p.align_b = 8; },
      [](GemmProblem& p) { p.align_out = 8; },
      [](GemmProblem& p) { p.align_bias = 8; },
      [](GemmProblem& p) { p.workspace_mib = 32; },
      [](GemmProblem& p) { p.m = 65; },
      [](GemmProblem& p) { p.n = 65; },
      [](GemmProblem& p) { p.k = 65; },
      [](GemmProblem& p) { p.lda = 65; },
      [](GemmProblem& p) { p.ldb = 65; },
      [](GemmProblem& p) { p.ldc = 65; },
      [](GemmProblem& p) { p.batch = 2; },
      [](GemmProblem& p) { p.stride_a = 2; },
      [](GemmProblem& p) { p.stride_b = 2; },
      [](GemmProblem& p) { p.stride_c = 2; },
  };
  std::set<decltype(ProblemKey::words)> keys;
  std::set<std::uint64_t> hashes;
  keys.insert(to_key(gemm_problem(64, 64, 64)).words);
  hashes.insert(to_key(gemm_problem(64, 64, 64)).hash());
  for (const auto& change : changes) {
    GemmProblem problem = gemm_problem(64, 64, 64);
    change(problem);
    keys.insert(to_key(problem).words);
    hashes.insert(to_key(problem).hash());
  }
  EXPECT_EQ(keys.size(), changes.size() + 1);
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST(ProblemKey, NeighboursSpreadOverTheLowBitsOfTheHash) {
  // 4096 shapes as a growing sequence makes them, into 8192 slots: random
  // hashing leaves about 39 % of the shapes in a slot that is taken.
  std::set<std::uint64_t> slots;
  for (std::int64_t m = 1; m <= 64; ++m) {
    for (std::int64_t n = 1; n <= 64; ++n) {
      slots.insert(to_key(gemm_problem(m, n, 4096)).hash() % 8192);
    }
  }
  EXPECT_GT(slots.size(), 4096U * 7 / 10);
}

}  // namespace
}  // namespace tunedops
