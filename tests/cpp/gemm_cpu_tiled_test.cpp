// Gemm_CpuTiled against a product in double precision, over shapes that hit
// every remainder of its tiles, strips and chunks, on every instruction set of
// this CPU; batches, and parts of k.

#include "kernels/gemm/cpu/gemm_cpu_tiled.h"

#include <limits>
#include <thread>

#include "cpu_products.h"

namespace tunedops {
namespace {

class GemmCpuTiledTest : public CpuProductsTest {
 protected:
  void compare(const Case& test, const Operands& operands,
               const Config& config) const {
    run_and_compare(kernel_, test, operands, config);
  }

  std::vector<Config> configs(const Case& test) const {
    return kernel_.configs(to_key(test.problem));
  }

  GemmCpuTiled kernel_;
};

class GemmCpuTiledShapesTest : public GemmCpuTiledTest,
                               public testing::WithParamInterface<DType> {};

TEST_P(GemmCpuTiledShapesTest, AgreesWithDoublePrecision) {
  unsigned variation = 0;
  for (const std::int64_t m :
       {1, 3, 4, 7, 8, 16, 17, 31, 33, 63, 64, 65, 130}) {
    for (const std::int64_t n : {1, 2, 5, 6, 8, 9, 16, 33, 63, 64, 65, 129}) {
      for (const std::int64_t k : {1, 2, 7, 16, 17, 33, 255, 256, 257}) {
        const Operands operands(GetParam(), m, n, k);
        for_each_isa([&] {
          for_each_layout(make_case(GetParam(), operands), [&](Case test) {
            vary(test, variation);
            const auto offered = configs(test);
            compare(test, operands, offered[variation % offered.size()]);
            ++variation;
          });
        });
      }
    }
  }
}

TEST_P(GemmCpuTiledShapesTest, EveryConfigOfAProductOfManyTiles) {
  for (const std::int64_t k : {70, 1100}) {
    const Operands operands(GetParam(), 150, 300, k);
    for_each_isa([&] {
      for_each_layout(make_case(GetParam(), operands), [&](const Case& test) {
        for (const Config& config : configs(test)) {
          compare(test, operands, config);
        }
      });
    });
  }
}

TEST_P(GemmCpuTiledShapesTest, PartsOfKAreAddedUp) {
  const Operands operands(GetParam(), 20, 13, 2311);
  for_each_isa([&] {
    for_each_layout(make_case(GetParam(), operands), [&](Case test) {
      test.problem.header.threads = 4;
      int split = 0;
      for (const Config& config : configs(test)) {
        split += config.at("splitk") > 1 ? 1 : 0;
        vary(test, static_cast<unsigned>(split));
        compare(test, operands, config);
      }
      EXPECT_GT(split, 0);
      test.problem.header.precision = kNoSplitK;
      for (const Config& config : configs(test)) {
        EXPECT_EQ(config.at("splitk"), 1);
      }
    });
  });
}

TEST_P(GemmCpuTiledShapesTest, PropagatesNanAndInfinity) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t k : {1, 33, 270}) {
    Operands operands(GetParam(), 37, 35, k);
    for (float& x : operands.b) {
      x = round_to(GetParam(), std::fabs(x) + 1);  // infinity * 0 is NaN
    }
    operands.a[3 * k] = kNan;
    operands.a[5 * k + k - 1] = kInfinity;
    operands.a[36 * k + k - 1] = -kInfinity;
    operands.b[4 * k + k / 2] = kNan;
    operands.b[34 * k + k - 1] = kNan;
    operands.multiply();
    for_each_isa([&] {
      for_each_layout(make_case(GetParam(), operands), [&](Case test) {
        for (const auto activation : {Activation::kNone, Activation::kRelu}) {
          test.problem.activation = activation;
          for (const Config& config : configs(test)) {
            compare(test, operands, config);
          }
        }
      });
    });
  }
}

TEST_P(GemmCpuTiledShapesTest, MatricesOfABatchAreThoseOfSingleProducts) {
  constexpr std::int64_t kBatch = 9;
  for (const auto& [m, n, k] :
       {std::tuple{16, 16, 16}, std::tuple{33, 70, 19}, std::tuple{5, 3, 40}}) {
    std::vector<Operands> operands;
    for (int z = 0; z < kBatch; ++z) {
      operands.emplace_back(GetParam(), m, n, k);
      for (std::size_t i = 0; i < operands.back().a.size(); i += 7) {
        operands.back().a[i] = static_cast<float>(z);
      }
    }
    for_each_isa([&] {
      for_each_layout(make_case(GetParam(), operands[0]), [&](Case test) {
        GemmProblem& p = test.problem;
        p.lda = p.transpose_a ? p.k : p.m;
        p.ldb = p.transpose_b ? p.n : p.k;
        p.ldc = p.m;
        const std::int64_t a_size = p.m * p.k + 3;
        const std::int64_t b_size = p.n * p.k + 1;
        const std::int64_t out_size = p.m * p.n + 5;
        Array a(p.a_dtype, a_size * kBatch);
        Array b(p.b_dtype, b_size * kBatch);
        Array out(p.out_dtype, out_size * kBatch, true);
        Array single(p.out_dtype, out_size, true);
        for (std::int64_t z = 0; z < kBatch; ++z) {
          for (std::int64_t i = 0; i < p.m * p.k; ++i) {
            a.set(z * a_size + i, operands[z].a[i]);
          }
          for (std::int64_t i = 0; i < p.n * p.k; ++i) {
            b.set(z * b_size + i, operands[z].b[i]);
          }
        }
        GemmProblem batch = p;
        batch.batched = true;
        batch.batch = kBatch;
        batch.stride_a = a_size;
        batch.stride_b = b_size;
        batch.stride_c = out_size;
        for (const Config& config : kernel_.configs(to_key(batch))) {
          const auto plan = kernel_.prepare(to_key(batch), config);
          Arguments arguments;
          arguments.operands = {a.data(), b.data(), out.data()};
          ASSERT_TRUE(plan->run(arguments, Stream{}).is_ok());
          // Sums of tiles and of vectors are in other orders.
          const auto singles = configs(test);
          const auto same_form =
              std::ranges::find_if(singles, [&](const Config& single) {
                return single.to_text()[1] == config.to_text()[1];
              });
          ASSERT_NE(same_form, singles.end());
          const auto one = kernel_.prepare(to_key(p), *same_form);
          for (std::int64_t z = 0; z < kBatch; ++z) {
            const auto size = static_cast<std::int64_t>(size_of(p.a_dtype));
            arguments.operands = {
                static_cast<char*>(a.data()) + z * a_size * size,
                static_cast<char*>(b.data()) + z * b_size * size,
                single.data()};
            ASSERT_TRUE(one->run(arguments, Stream{}).is_ok());
            for (std::int64_t i = 0; i < p.m * p.n; ++i) {
              ASSERT_EQ(out.get(z * out_size + i), single.get(i))
                  << config.to_text() << " matrix " << z << " element " << i;
            }
            for (std::int64_t i = p.m * p.n; i < out_size; ++i) {
              ASSERT_TRUE(out.is_poison(z * out_size + i));
            }
          }
        }
      });
    });
  }
}

TEST_P(GemmCpuTiledShapesTest, AlphaZeroIgnoresTheOperands) {
  Operands operands(GetParam(), 20, 40, 30);
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
      compare(test, expected, configs(test).front());
    });
  });
}

TEST_P(GemmCpuTiledShapesTest, RunsOnManyThreadsAtOnce) {
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
  const Operands operands(GetParam(), 150, 90, 1100);
  for_each_layout(make_case(GetParam(), operands), [&](const Case& test) {
    const auto offered = configs(test);
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&, i] {
        compare(test, operands,
                offered[static_cast<std::size_t>(i) % offered.size()]);
      });
    }
    for (std::thread& caller : callers) {
      caller.join();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Types, GemmCpuTiledShapesTest, kCpuTypes,
                         cpu_type_name);

// Whoever reads a failure believes that the output is as it was.
TEST_F(GemmCpuTiledTest, ThrowsWhenMemoryEndsAfterSomethingMayBeWritten) {
  const Operands operands(DType::kFloat32, 100, 13, 1100);
  bool splits_k = false;
  bool wrote_a_part = false;
  for (const int batch : {1, 2, 9}) {
    for_each_layout(make_case(DType::kFloat32, operands), [&](Case test) {
      GemmProblem& p = test.problem;
      p.batched = batch > 1;
      p.batch = batch;
      for (const Config& config : configs(test)) {
        if (config.at("threads") == 1) {
          continue;  // no other thread that could lack memory
        }
        // Matrices of a large batch are rearranged by those who multiply them.
        const bool is_shared_out = batch == 9 && config.at("splitk") == 1;
        const bool rearranges = p.transpose_b && !is_shared_out;
        splits_k = splits_k || config.at("splitk") > 1;
        int whole_loops = 0;
        for (ScarceRun run; !run.is_ok; ++whole_loops) {
          run = run_with_scarce_memory(kernel_, p, config, whole_loops);
          const bool nothing_yet = rearranges && whole_loops == 0;
          EXPECT_EQ(run.threw, !nothing_yet && !run.is_ok);
          EXPECT_FALSE(run.wrote && nothing_yet);
          wrote_a_part = wrote_a_part || (run.wrote && run.threw);
          EXPECT_EQ(run.reason,
                    run.is_ok   ? ""
                    : run.threw ? "not enough memory for the sums"
                                : "not enough memory to rearrange an operand");
        }
        EXPECT_GT(whole_loops, 1);
      }
    });
  }
  EXPECT_TRUE(splits_k);
  EXPECT_TRUE(wrote_a_part);
}

TEST_F(GemmCpuTiledTest, SaysWhatItDoesNotSupport) {
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
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.k = 0; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batch = 0; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.conjugate_a = true; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.out_dtype = DType::kFloat64; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.bias_dtype = DType::kFloat16; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) {
    p.transpose_b = true;
    p.n = p.k = 5000;
  })) << "b has to be turned over";
  constexpr auto kHuge = std::int64_t{1} << 61;
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.m = p.n = p.k = kHuge; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batch = kHuge; }));
  EXPECT_FALSE(refuses([](GemmProblem& p) { p.batch = 100; }));
}

TEST_F(GemmCpuTiledTest, AcceptsItsConfigsAndNoOthers) {
  const Operands operands(DType::kFloat32, 200, 100, 50);
  const auto key = to_key(make_case(DType::kFloat32, operands).problem);
  for (const Config& config : kernel_.configs(key)) {
    EXPECT_TRUE(kernel_.check(key, config).is_ok()) << config.to_text();
    EXPECT_NE(kernel_.prepare(key, config), nullptr);
  }
  for (const std::string_view text :
       {"", "_vectors_3_columns_64_threads_1_splitk_1",
        "_vectors_4_columns_65_threads_1_splitk_1",
        "_vectors_4_columns_64_threads_100_splitk_1",
        "_vectors_4_columns_64_threads_1_splitk_9",
        "_vectors_4_columns_64_threads_1"}) {
    const auto config = Config::from_text(text);
    ASSERT_TRUE(config.has_value()) << text;
    EXPECT_FALSE(kernel_.check(key, *config).is_ok()) << text;
    EXPECT_EQ(kernel_.prepare(key, *config), nullptr) << text;
  }
}

}  // namespace
}  // namespace tunedops
