// The tiles of AMX in Gemm_CpuTiled: every remainder of blocks, panels and
// parts of k against double precision; the same bits however a product is cut;
// memory that ends where an operand does; and what happens where AMX may not be
// used.

#include "kernels/gemm/cpu/gemm_cpu_tiled.h"

#include <set>

#include "cpu_products.h"
#include "fenced_memory.h"
#include "kernels/gemm/cpu/gemm_cpu_skinny.h"

namespace tunedops {
namespace {

class GemmCpuAmxTest : public CpuProductsTest {
 protected:
  void SetUp() override {
    if (cpu::detected_isa() < cpu::Isa::kAvx512Amx) {
      GTEST_SKIP() << "this processor or its system has no AMX, only "
                   << cpu::to_text(cpu::detected_isa());
    }
  }

  /// Those that use AMX.
  std::vector<Config> configs(const GemmProblem& problem) const {
    std::vector<Config> all = kernel_.configs(to_key(problem));
    std::erase_if(all, [](const Config& config) {
      return !config.to_text().starts_with("_rows_");
    });
    return all;
  }

  GemmCpuTiled kernel_;
};

TEST_F(GemmCpuAmxTest, AgreesWithDoublePrecision) {
  unsigned variation = 0;
  for (const std::int64_t m : {1, 15, 16, 17, 31, 32, 33, 48, 64, 65, 257}) {
    for (const std::int64_t n : {1, 15, 16, 17, 32, 33, 48, 65, 257}) {
      for (const std::int64_t k : {1, 2, 31, 32, 33, 64, 95, 1023, 1025}) {
        if (m * n * k > 4'000'000) {
          continue;
        }
        const Operands operands(DType::kBFloat16, m, n, k);
        for_each_layout(make_case(DType::kBFloat16, operands), [&](Case test) {
          vary(test, variation);
          const auto offered = configs(test.problem);
          ASSERT_FALSE(offered.empty());
          run_and_compare(kernel_, test, operands,
                          offered[variation % offered.size()]);
          ++variation;
        });
      }
    }
  }
}

TEST_F(GemmCpuAmxTest, EveryConfigWithAllThatFollowsASum) {
  const Operands operands(DType::kBFloat16, 300, 290, 2100);
  unsigned variation = 0;
  for_each_layout(make_case(DType::kBFloat16, operands), [&](Case test) {
    test.problem.header.threads = 16;
    for (const Config& config : configs(test.problem)) {
      vary(test, ++variation);
      run_and_compare(kernel_, test, operands, config);
    }
  });
}

TEST_F(GemmCpuAmxTest, TilesAndThreadsDoNotChangeBits) {
  const Operands operands(DType::kBFloat16, 300, 290, 2100);
  for_each_layout(make_case(DType::kBFloat16, operands), [&](Case test) {
    GemmProblem& p = test.problem;
    p.header.threads = 16;
    p.lda = p.transpose_a ? p.k : p.m;
    p.ldb = p.transpose_b ? p.n : p.k;
    p.ldc = p.m;
    Array a(p.a_dtype, p.m * p.k);
    Array b(p.b_dtype, p.n * p.k);
    for (std::int64_t i = 0; i < p.m * p.k; ++i) {
      a.set(i, operands.a[i]);
    }
    for (std::int64_t i = 0; i < p.n * p.k; ++i) {
      b.set(i, operands.b[i]);
    }
    std::vector<float> first;
    std::set<std::int64_t> threads;
    for (const Config& config : configs(p)) {
      if (config.at("splitk") != 1) {
        continue;
      }
      threads.insert(config.at("threads"));
      Array out(p.out_dtype, p.m * p.n, true);
      Arguments arguments;
      arguments.operands = {a.data(), b.data(), out.data()};
      ASSERT_TRUE(
          kernel_.prepare(to_key(p), config)->run(arguments, Stream{}).is_ok());
      std::vector<float> got;
      for (std::int64_t i = 0; i < p.m * p.n; ++i) {
        got.push_back(out.get(i));
      }
      first = first.empty() ? got : first;
      EXPECT_EQ(got, first) << config.to_text();
    }
    EXPECT_GT(threads.size(), 2U);
  });
}

TEST_F(GemmCpuAmxTest, NeitherReadsNorWritesBeyondAnOperand) {
  for (const auto& [m, n, k] :
       {std::tuple{1, 1, 1}, std::tuple{17, 33, 31}, std::tuple{48, 48, 65},
        std::tuple{32, 64, 64}, std::tuple{70, 40, 1057}}) {
    const Operands operands(DType::kBFloat16, m, n, k);
    for_each_layout(make_case(DType::kBFloat16, operands), [&](Case test) {
      GemmProblem& p = test.problem;
      p.lda = p.transpose_a ? p.k : p.m;
      p.ldb = p.transpose_b ? p.n : p.k;
      p.ldc = p.m;
      for (const auto end : {FencedMemory::kFirst, FencedMemory::kLast}) {
        const FencedMemory a(2 * p.m * p.k, end);
        const FencedMemory b(2 * p.n * p.k, end);
        const FencedMemory out(2 * p.m * p.n, end);
        Arguments arguments;
        arguments.operands = {a.data(), b.data(), out.data()};
        for (const Config& config : configs(p)) {
          EXPECT_TRUE(kernel_.prepare(to_key(p), config)
                          ->run(arguments, Stream{})
                          .is_ok());
        }
      }
    });
  }
}

TEST_F(GemmCpuAmxTest, KeepsDenormalsOfWhatIsAddedTo) {
  constexpr float kDenormal = 0x1p-130F;
  const Operands operands(DType::kBFloat16, 40, 3, 64);
  Case test = make_case(DType::kBFloat16, operands);
  GemmProblem& p = test.problem;
  p.beta = ScalarClass::kOne;
  p.lda = p.m;
  p.ldb = p.k;
  p.ldc = p.m;
  Array a(p.a_dtype, p.m * p.k);
  Array b(p.b_dtype, p.n * p.k);
  Array out(p.out_dtype, p.m * p.n, true);
  for (std::int64_t i = 0; i < p.m * p.k; ++i) {
    a.set(i, 0);
  }
  for (std::int64_t i = 0; i < p.n * p.k; ++i) {
    b.set(i, 1);
  }
  for (std::int64_t i = 0; i < p.m * p.n; ++i) {
    out.set(i, kDenormal);
  }
  Arguments arguments;
  arguments.operands = {a.data(), b.data(), out.data()};
  arguments.beta = 1;
  ASSERT_TRUE(kernel_.prepare(to_key(p), configs(p).front())
                  ->run(arguments, Stream{})
                  .is_ok());
  for (std::int64_t i = 0; i < p.m * p.n; ++i) {
    ASSERT_EQ(out.get(i), kDenormal) << i;
  }
}

TEST_F(GemmCpuAmxTest, IsOfferedForBfloat16AtItsLevelOnly) {
  const Operands operands(DType::kBFloat16, 64, 64, 64);
  GemmProblem p = make_case(DType::kBFloat16, operands).problem;
  const auto offered = configs(p);
  ASSERT_FALSE(offered.empty());
  cpu::set_isa_limit(cpu::Isa::kAvx512Bf16);
  EXPECT_TRUE(configs(p).empty());
  EXPECT_FALSE(kernel_.check(to_key(p), offered.front()).is_ok());
  EXPECT_EQ(kernel_.prepare(to_key(p), offered.front()), nullptr);
  cpu::set_isa_limit(std::nullopt);
  p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat16;
  EXPECT_TRUE(configs(p).empty());
}

TEST_F(GemmCpuAmxTest, OfLargeProductsVectorsAreNotTriedUnlessTilesAreWasted) {
  const Operands operands(DType::kBFloat16, 64, 64, 64);
  const auto offers_vectors = [&](std::int64_t m, std::int64_t n,
                                  std::int64_t k) {
    GemmProblem p = make_case(DType::kBFloat16, operands).problem;
    p.m = m, p.n = n, p.k = k;
    const std::vector<Config> all = kernel_.configs(to_key(p));
    return all.size() > configs(p).size();
  };
  EXPECT_TRUE(offers_vectors(64, 64, 64)) << "is small";
  EXPECT_FALSE(offers_vectors(1024, 1024, 1024));
  EXPECT_TRUE(offers_vectors(1024, 1024, 1));
  EXPECT_TRUE(offers_vectors(16, 16384, 2048));
  EXPECT_FALSE(offers_vectors(50257, 32, 768));
}

TEST_F(GemmCpuAmxTest, IsNotOfferedWherePanelsAreMuchLargerThanTheirOperand) {
  const Operands operands(DType::kBFloat16, 64, 64, 64);
  GemmProblem p = make_case(DType::kBFloat16, operands).problem;
  p.n = 1 << 20;
  p.k = 1;
  EXPECT_TRUE(configs(p).empty());
  p.n = 1;
  p.k = 1 << 22;
  EXPECT_TRUE(configs(p).empty());
  p.k = 1 << 20;
  EXPECT_FALSE(configs(p).empty());
}

TEST_F(GemmCpuAmxTest, ManyThreadsRearrangeFewKsByColumns) {
  const Operands operands(DType::kBFloat16, 70, 333, 40);
  for_each_layout(make_case(DType::kBFloat16, operands), [&](Case test) {
    test.problem.header.threads = 16;
    for (const Config& config : configs(test.problem)) {
      run_and_compare(kernel_, test, operands, config);
    }
  });
}

TEST_F(GemmCpuAmxTest, LeavesTheTimeToTuneManyColumnsToTiles) {
  const GemmCpuSkinny skinny;
  const Operands operands(DType::kBFloat16, 64, 32, 64);
  GemmProblem p = make_case(DType::kBFloat16, operands).problem;
  p.m = p.k = 4096;
  const auto offered = [&](std::int64_t n) {
    p.n = n;
    return skinny.configs(to_key(p)).size();
  };
  EXPECT_GT(offered(8), 1U);
  EXPECT_EQ(offered(9), 1U);
  EXPECT_FALSE(skinny.heuristic(to_key(p)).has_value());
  cpu::set_isa_limit(cpu::Isa::kAvx512Bf16);
  EXPECT_GT(offered(9), 1U);
}

}  // namespace
}  // namespace tunedops
