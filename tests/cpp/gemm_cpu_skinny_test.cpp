// Gemm_CpuSkinny against a product in double precision, over shapes that hit
// every remainder of its blocks, on every instruction set of this CPU.

#include "backends/cpu/isa.h"
#include "kernels/gemm/cpu/gemm_cpu_skinny.h"
#include "tuning/parallel_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

namespace tunedops {
namespace {

using cpu::Isa;

/// Pieces in descending order, so that nothing can rely on ascending ones.
void in_pieces(std::int64_t count, int threads, ParallelForBody body,
               const void* context) {
  const std::int64_t per_piece = (count + threads - 1) / threads;
  for (std::int64_t piece = (count + per_piece - 1) / per_piece; piece-- > 0;) {
    body(context, piece * per_piece, std::min((piece + 1) * per_piece, count));
  }
}

float round_to(DType dtype, float x) {
  if (dtype == DType::kFloat32) {
    return x;
  }
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (!std::isnan(x)) {
    bits += 0x7fff + (bits >> 16 & 1);
  }
  return std::bit_cast<float>(bits & 0xffff0000);
}

/// Elements of a float or bfloat16 array at an address that is a multiple of
/// the element's size only, after a guard zone. An output has another one after
/// it; an input ends where its memory does, for the address sanitizer.
class Array {
 public:
  Array(DType dtype, std::int64_t count, bool is_output = false)
      : size_(size_of(dtype)),
        bytes_(static_cast<std::size_t>(count + (is_output ? 2 : 1) * kGuard) *
                   size_,
               kPoison) {}

  void* data() { return bytes_.data() + kGuard * size_; }

  float get(std::int64_t index) const {
    std::uint32_t bits = 0;
    if (size_ == 2) {
      std::uint16_t half = 0;
      std::memcpy(&half, at(index), 2);
      bits = static_cast<std::uint32_t>(half) << 16;
    } else {
      std::memcpy(&bits, at(index), 4);
    }
    return std::bit_cast<float>(bits);
  }

  void set(std::int64_t index, float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto half = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at(index), size_ == 2 ? static_cast<const void*>(&half) : &bits,
                size_);
  }

  bool is_poison(std::int64_t index) const {
    const unsigned char* p = at(index);
    return std::all_of(p, p + size_,
                       [](unsigned char byte) { return byte == kPoison; });
  }

  static constexpr std::int64_t kGuard = 69;

 private:
  // As bfloat16 or float a NaN, so that reading a gap is noticed too.
  static constexpr unsigned char kPoison = 0xff;

  const unsigned char* at(std::int64_t index) const {
    return bytes_.data() + (index + kGuard) * static_cast<std::int64_t>(size_);
  }

  unsigned char* at(std::int64_t index) {
    return bytes_.data() + (index + kGuard) * static_cast<std::int64_t>(size_);
  }

  std::size_t size_;
  std::vector<unsigned char> bytes_;
};

/// op(a), op(b), what out held, and the bias, with their exact product.
struct Operands {
  Operands(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k)
      : m(m), n(n), k(k) {
    std::minstd_rand random(static_cast<unsigned>(m * 131 + n * 17 + k));
    const auto fill = [&](std::vector<float>& to, std::int64_t count) {
      to.resize(static_cast<std::size_t>(count));
      for (float& x : to) {
        x = round_to(dtype, static_cast<float>(random() % 2048) / 512 - 2);
      }
    };
    fill(a, m * k);
    fill(b, n * k);
    fill(before, m * n);
    fill(bias, m);
    multiply();
  }

  void multiply() {
    product.assign(static_cast<std::size_t>(m * n), 0);
    magnitude = product;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        double size = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const double term = static_cast<double>(a[i * k + l]) * b[j * k + l];
          sum += term;
          size += std::fabs(term);
        }
        product[j * m + i] = sum;
        magnitude[j * m + i] = size;
      }
    }
  }

  std::int64_t m, n, k;
  std::vector<float> a;       // [m][k]
  std::vector<float> b;       // [n][k]
  std::vector<float> before;  // [n][m]
  std::vector<float> bias;
  std::vector<double> product;    // [n][m]
  std::vector<double> magnitude;  // of the terms that were added up
};

double activate(Activation activation, double x) {
  switch (activation) {
  case Activation::kNone:
    return x;
  case Activation::kRelu:
    return x < 0 ? 0 : x;
  case Activation::kGelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::kGeluTanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                          (x + 0.044715 * x * x * x)));
  }
  return x;
}

struct Case {
  GemmProblem problem;
  double alpha = 1;
  double beta = 0;
  std::int64_t pad = 0;  // of leading dimensions
};

Case make_case(DType dtype, const Operands& operands) {
  Case test;
  GemmProblem& p = test.problem;
  p.a_dtype = p.b_dtype = p.out_dtype = dtype;
  p.header.threads = 3;
  p.m = operands.m;
  p.n = operands.n;
  p.k = operands.k;
  return test;
}

/// The nth variation of everything that is not shape or layout.
void vary(Case& test, unsigned n) {
  GemmProblem& p = test.problem;
  constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu,
                                         Activation::kGelu,
                                         Activation::kGeluTanh};
  p.activation = kActivations[n % 4];
  p.alpha = n % 3 == 0 ? ScalarClass::kAny : ScalarClass::kOne;
  test.alpha = n % 3 == 0 ? -0.625 : 1;
  p.beta = ScalarClass{static_cast<std::uint8_t>(n % 5 % 3)};
  test.beta = n % 5 % 3 == 2 ? 0.375 : n % 5 % 3;
  p.bias_dtype = n % 7 < 2    ? DType::kNone
                 : n % 7 == 2 ? DType::kFloat32
                              : p.out_dtype;
  test.pad = n % 11 < 6 ? 0 : n % 11;
}

/// Lays the operands out, runs one config and compares every element and gap.
void run_and_compare(Case test, const Operands& operands,
                     const Config& config) {
  GemmProblem& p = test.problem;
  const std::int64_t m = p.m;
  p.lda = (p.transpose_a ? p.k : m) + test.pad;
  p.ldb = (p.transpose_b ? p.n : p.k) + test.pad;
  p.ldc = m + test.pad;
  Array a(p.a_dtype, p.lda * (p.transpose_a ? m : p.k));
  Array b(p.b_dtype, p.ldb * (p.transpose_b ? p.k : p.n));
  Array out(p.out_dtype, p.ldc * p.n, true);
  Array bias(p.has_bias() ? p.bias_dtype : DType::kFloat32, m);
  for (std::int64_t l = 0; l < p.k; ++l) {
    for (std::int64_t i = 0; i < m; ++i) {
      a.set(p.transpose_a ? i * p.lda + l : l * p.lda + i,
            operands.a[i * p.k + l]);
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      b.set(p.transpose_b ? l * p.ldb + j : j * p.ldb + l,
            operands.b[j * p.k + l]);
    }
  }
  for (std::int64_t i = 0; i < m; ++i) {
    bias.set(i, operands.bias[i]);
    for (std::int64_t j = 0; p.beta != ScalarClass::kZero && j < p.n; ++j) {
      out.set(j * p.ldc + i, operands.before[j * m + i]);
    }
  }

  const auto plan = GemmCpuSkinny().prepare(to_key(p), config);
  ASSERT_NE(plan, nullptr);
  Arguments arguments;
  arguments.operands[kGemmA] = a.data();
  arguments.operands[kGemmB] = b.data();
  arguments.operands[kGemmOut] = out.data();
  arguments.operands[kGemmBias] = p.has_bias() ? bias.data() : nullptr;
  arguments.alpha = test.alpha;
  arguments.beta = test.beta;
  ASSERT_TRUE(plan->run(arguments, Stream{}).is_ok());

  const double rounding = p.out_dtype == DType::kBFloat16 ? 0x1p-8 : 0x1p-22;
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      double x = test.alpha * operands.product[j * m + i];
      double size = std::fabs(test.alpha) * operands.magnitude[j * m + i] + 8;
      if (p.beta != ScalarClass::kZero) {
        x += test.beta * operands.before[j * m + i];
      }
      if (p.has_bias()) {
        x += operands.bias[i];
      }
      x = activate(p.activation, x);
      const double got = out.get(j * p.ldc + i);
      const double bound = rounding * std::fabs(x) + 0x1p-21 * size;
      const bool right = std::isnan(x)   ? std::isnan(got)
                         : std::isinf(x) ? got == x
                                         : std::fabs(x - got) <= bound;
      wrong += right ? 0 : 1;
    }
    for (std::int64_t i = m; i < p.ldc; ++i) {
      wrong += !out.is_poison(j * p.ldc + i);
    }
  }
  for (std::int64_t i = 1; i <= Array::kGuard; ++i) {
    wrong += !out.is_poison(-i) || !out.is_poison(p.ldc * p.n + i - 1);
  }
  EXPECT_EQ(wrong, 0) << "m " << m << " n " << p.n << " k " << p.k << " trans "
                      << p.transpose_a << p.transpose_b << " bfloat16 "
                      << (p.a_dtype == DType::kBFloat16) << " pad " << test.pad
                      << " activation " << int(p.activation) << " alpha "
                      << test.alpha << " beta " << test.beta << " "
                      << config.to_text() << " " << to_text(cpu::usable_isa());
}

class GemmCpuSkinnyTest : public testing::Test {
 protected:
  GemmCpuSkinnyTest() { install_parallel_for(&in_pieces); }

  ~GemmCpuSkinnyTest() override { cpu::set_isa_limit(std::nullopt); }

  /// Calls `body` once per instruction set that this CPU has.
  template <class Body>
  static void for_each_isa(const Body& body) {
    for (int isa = 0; isa <= static_cast<int>(cpu::detected_isa()); ++isa) {
      cpu::set_isa_limit(Isa{static_cast<std::uint8_t>(isa)});
      body();
    }
  }

  template <class Body>
  static void for_each_layout(Case test, const Body& body) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        test.problem.transpose_a = transpose_a;
        test.problem.transpose_b = transpose_b;
        body(test);
      }
    }
  }

  GemmCpuSkinny kernel_;
};

class GemmCpuSkinnyShapesTest : public GemmCpuSkinnyTest,
                                public testing::WithParamInterface<DType> {};

TEST_P(GemmCpuSkinnyShapesTest, AgreesWithDoublePrecision) {
  unsigned variation = 0;
  for (const std::int64_t m : {1, 2, 3, 7, 16, 17, 63, 64, 65, 1000}) {
    for (std::int64_t n = 1; n <= 16; ++n) {
      for (const std::int64_t k : {1, 2, 15, 16, 17, 31, 64, 1000}) {
        if (m == 1000 && k == 1000 && n % 5 != 1) {
          continue;  // most of the time and nothing new
        }
        const Operands operands(GetParam(), m, n, k);
        for_each_isa([&] {
          for_each_layout(make_case(GetParam(), operands), [&](Case test) {
            vary(test, variation);
            const auto configs = kernel_.configs(to_key(test.problem));
            run_and_compare(test, operands,
                            configs[variation % configs.size()]);
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
      run_and_compare(test, operands, kernel_.configs(to_key(p)).front());
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
          run_and_compare(test, operands, configs.front());
          run_and_compare(test, operands, configs.back());
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
      run_and_compare(test, operands,
                      kernel_.configs(to_key(test.problem)).front());
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
      run_and_compare(test, expected,
                      kernel_.configs(to_key(test.problem)).front());
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
      callers.emplace_back(run_and_compare, test, std::cref(operands), config);
    }
    for (std::thread& caller : callers) {
      caller.join();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Types, GemmCpuSkinnyShapesTest,
                         testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& info) {
                           return info.param == DType::kFloat32 ? "Float32"
                                                                : "BFloat16";
                         });

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
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.n = 17; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.k = 0; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batched = true; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.batch = 2; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.conjugate_a = true; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.out_dtype = DType::kFloat64; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) { p.bias_dtype = DType::kFloat16; }));
  EXPECT_TRUE(refuses([](GemmProblem& p) {
    p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat16;
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
