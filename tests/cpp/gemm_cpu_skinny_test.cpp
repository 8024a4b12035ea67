// Gemm_CpuSkinny against a product in double precision, over shapes that hit
// every remainder of its blocks, on every instruction set of this CPU.

#include "kernels/gemm/cpu/gemm_cpu_skinny.h"

#include <limits>
#include <thread>

#include "cpu_products.h"

namespace tunedops {
namespace {

using cpu::Isa;

class GemmCpuSkinnyTest : public CpuProductsTest {
 protected:
  void compare(const Case& test, const Operands& operands,
               const Config& config) const {
    run_and_compare(kernel_, test, operands, config);
  }

  GemmCpuSkinny kernel_;
};

class GemmCpuSkinnyShapesTest : public GemmCpuSkinnyTest,
                                public testing::WithParamInterface<DType> {};

TEST_P(GemmCpuSkinnyShapesTest, AgreesWithDoublePrecision) {
  unsigned variation = 0;
  for (const std::int64_t m : {1, 2, 3, 7, 16, 17, 63, 64, 65, 1000}) {
    for (const std::int64_t n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                 12, 13, 14, 15, 16, 17, 23, 24, 25, 31, 32}) {
      for (const std::int64_t k : {1, 2, 15, 16, 17, 31, 64, 1000}) {
        if (m == 1000 && k == 1000 && n % 5 != 1) {
          continue;  // most of the time and nothing new
        }
        const Operands operands(GetParam(), m, n, k);
        for_each_isa([&] {
          for_each_layout(make_case(GetParam(), operands), [&](Case test) {
            vary(test, variation);
            const auto configs = kernel_.configs(to_key(test.problem));
            compare(test, operands, configs[variation % configs.size()]);
            ++variation;
          });
        });
      }
    }
  }
}

TEST_P(GemmCpuSkinnyShapesTest, EveryConfigGivesTheSameBits) {
  // Long enough for several chunks of k, and not a multiple of anything.
  const Operands operands(GetParam(), 203, 13, 2311);
  for_each_isa([&] {
    for_each_layout(make_case(GetParam(), operands), [&](Case test) {
      GemmProblem& p = test.problem;
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
      for (const Config& config : kernel_.configs(to_key(p))) {
        Array out(p.out_dtype, p.m * p.n, true);
        Arguments arguments;
        arguments.operands = {a.data(), b.data(), out.data()};
        const auto plan = kernel_.prepare(to_key(p), config);
        ASSERT_TRUE(plan->run(arguments, Stream{}).is_ok());
        std::vector<float> result;
        for (std::int64_t i = 0; i < p.m * p.n; ++i) {
          result.push_back(out.get(i));
        }
        if (first.empty()) {
          first = result;
        }
        EXPECT_EQ(result, first) << config.to_text();
      }
      compare(test, operands, kernel_.configs(to_key(p)).front());
    });
  });
}

TEST_P(GemmCpuSkinnyShapesTest, PropagatesNanAndInfinity) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t k : {1, 33, 70}) {
    Operands operands(GetParam(), 37, 5, k);
    for (float& x : operands.b) {
      x = round_to(GetParam(), std::fabs(x) + 1);  // infinity * 0 is NaN
    }
    operands.a[3 * k] = kNan;
    operands.a[5 * k + k - 1] = kInfinity;
    operands.a[36 * k + k - 1] = -kInfinity;
    operands.b[4 * k + k / 2] = kNan;
    operands.multiply();
    for_each_isa([&] {
      for_each_layout(make_case(GetParam(), operands), [&](Case test) {
        for (const auto activation : {Activation::kNone, Activation::kRelu}) {
          test.problem.activation = activation;
          const auto configs = kernel_.configs(to_key(test.problem));
          compare(test, operands, configs.front());
          compare(test, operands, configs.back());
        }
      });
    });
  }
}

TEST_P(GemmCpuSkinnyShapesTest, ActivationsAreExactInTheTails) {
  // One product of k = 1 per value, times 1.
  Operands operands(GetParam(), 4001, 1, 1);
  operands.b[0] = 1;
  for (int i = 0; i < 4000; ++i) {
    operands.a[i] = round_to(GetParam(), static_cast<float>(i - 2000) / 64);
  }
  operands.a[4000] = -0.0F;
  operands.multiply();
  std::fill(operands.magnitude.begin(), operands.magnitude.end(), 0);
  for_each_isa([&] {
    for (const auto activation :
         {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh}) {
      Case test = make_case(GetParam(), operands);
      test.problem.activation = activation;
      compare(test, operands, kernel_.configs(to_key(test.problem)).front());
    }
  });
}

TEST_P(GemmCpuSkinnyShapesTest, AlphaZeroIgnoresTheOperands) {
  Operands operands(GetParam(), 20, 3, 40);
  std::fill(operands.a.begin(), operands.a.end(), NAN);
  for_each_isa([&] {
    for_each_layout(make_case(GetParam(), operands), [&](Case test) {
      test.problem.alpha = ScalarClass::kZero;
      test.problem.beta = ScalarClass::kOne;
      test.alpha = 0;
      test.beta = 1;
      Operands expected = operands;
      std::fill(expected.product.begin(), expected.product.end(), 0);
      std::fill(expected.magnitude.begin(), expected.magnitude.end(), 0);
      compare(test, expected, kernel_.configs(to_key(test.problem)).front());
    });
  });
}

TEST_P(GemmCpuSkinnyShapesTest, RunsOnManyThreadsAtOnce) {
  install_parallel_for(
      [](std::int64_t count, int, ParallelForBody body, const void* context) {
        std::vector<std::thread> threads;
        for (std::int64_t i = 0; i < count; ++i) {
          threads.emplace_back(body, context, i, i + 1);
        }
        for (std::thread& thread : threads) {
          thread.join();
        }
      });
  const Operands operands(GetParam(), 150, 9, 1100);
  for_each_layout(make_case(GetParam(), operands), [&](Case test) {
    const auto config = kernel_.configs(to_key(test.problem)).front();
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&, test] { compare(test, operands, config); });
    }
    for (std::thread& caller : callers) {
      caller.join();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Types, GemmCpuSkinnyShapesTest, kCpuTypes,
                         cpu_type_name);

// Whoever reads a failure believes that the output is as it was.
TEST_F(GemmCpuSkinnyTest, ThrowsWhenMemoryEndsAfterSomethingIsWritten) {
  const Operands operands(DType::kFloat32, 300, 9, 1100);
  for_each_layout(make_case(DType::kFloat32, operands), [&](const Case& test) {
    const GemmProblem& p = test.problem;
    const auto configs = kernel_.configs(to_key(p));
    const auto config =
        std::find_if(configs.begin(), configs.end(),
                     [](const Config& x) { return x.at("threads") > 1; });
    ASSERT_NE(config, configs.end());
    const int rearranging = p.transpose_b ? 1 : 0;  // loops
    for (int whole_loops = 0; whole_loops <= rearranging + 1; ++whole_loops) {
      const ScarceRun run =
          run_with_scarce_memory(kernel_, p, *config, whole_loops);
      EXPECT_EQ(run.threw, whole_loops == rearranging);
      EXPECT_EQ(run.wrote, whole_loops >= rearranging);
      EXPECT_EQ(run.is_ok, whole_loops > rearranging);
      EXPECT_EQ(run.reason, run.is_ok   ? ""
                            : run.threw ? "not enough memory for the sums"
                                        : "not enough memory to rearrange b");
    }
  });
}

TEST_F(GemmCpuSkinnyTest, SaysWhatItDoesNotSupport) {
  const Operands operands(DType::kFloat32, 8, 4, 8);
  const GemmProblem good = make_case(DType::kFloat32, operands).problem;
  EXPECT_TRUE(kernel_.supports(to_key(good)).is_ok());
  const auto refuses = [&](auto change) {
    GemmProblem problem = good;
    change(problem);
    const Status status = kernel_.supports(to_key(problem));
    return status.code() == Status::Code::kUnsupported &&
           !status.reason().empty();
  };
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.n = 33; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.k = 0; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batched = true; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batch = 2; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.conjugate_a = true; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.out_dtype = DType::kFloat64; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.bias_dtype = DType::kFloat16; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) {
    p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat64;
  }));
}

TEST_F(GemmCpuSkinnyTest, AcceptsItsConfigsAndNoOthers) {
  for (const int threads : {1, 2, 3, 64}) {
    for (const bool transpose_a : {false, true}) {
      for (const std::int64_t n : {1, 4, 8, 16}) {
        const Operands operands(DType::kFloat32, 1, 1, 1);
        GemmProblem problem = make_case(DType::kFloat32, operands).problem;
        problem.header.threads = static_cast<std::uint16_t>(threads);
        problem.transpose_a = transpose_a;
        problem.m = 4096;
        problem.n = n;
        problem.k = 4096;
        const auto key = to_key(problem);
        const auto configs = kernel_.configs(key);
        EXPECT_GE(configs.size(), 6U);
        EXPECT_LE(configs.size(), 12U);
        EXPECT_EQ(configs.front().at("threads"), threads);
        for (const Config& config : configs) {
          EXPECT_TRUE(kernel_.check(key, config).is_ok()) << config.to_text();
          EXPECT_EQ(std::count(configs.begin(), configs.end(), config), 1);
        }
        const auto heuristic = kernel_.heuristic(key);
        if (heuristic) {
          EXPECT_EQ(*heuristic, configs.front());
        }
      }
    }
  }
  Operands operands(DType::kFloat32, 64, 1, 64);
  GemmProblem problem = make_case(DType::kFloat32, operands).problem;
  problem.transpose_a = true;
  const auto key = to_key(problem);
  EXPECT_FALSE(kernel_.heuristic(key).has_value());
  for (const std::string_view text :
       {"", "_rows_3_prefetch_0_threads_1", "_rows_4_prefetch_2_threads_1",
        "_rows_4_prefetch_0_threads_100", "_rows_4_prefetch_0_threads_0",
        "_vectors_4_prefetch_0_threads_1",
        "_rows_4_prefetch_0_threads_1_more_1"}) {
    const auto config = Config::from_text(text);
    ASSERT_TRUE(config.has_value()) << text;
    EXPECT_FALSE(kernel_.check(key, *config).is_ok()) << text;
    EXPECT_EQ(kernel_.prepare(key, *config), nullptr) << text;
  }
  EXPECT_TRUE(
      kernel_.check(key, *Config::from_text("_rows_4_prefetch_0_threads_1"))
          .is_ok());
}

TEST(Isa, HasALimitAndAName) {
  EXPECT_EQ(cpu::usable_isa(), cpu::detected_isa());
  cpu::set_isa_limit(Isa::kPortable);
  EXPECT_EQ(cpu::usable_isa(), Isa::kPortable);
  cpu::set_isa_limit(std::nullopt);
  EXPECT_EQ(cpu::usable_isa(), cpu::detected_isa());
  EXPECT_EQ(cpu::to_text(Isa::kAvx512Bf16), "avx512_bf16");
}

}  // namespace
}  // namespace tunedops
