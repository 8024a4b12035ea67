#pragma once

// Products on the CPU against double precision, for any kernel: operands of
// every layout that end where their memory does, outputs between guard zones,
// and every instruction set of this CPU.

#include "backends/cpu/isa.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/kernel.h"
#include "tuning/parallel_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

namespace tunedops {

/// Pieces in descending order, so that nothing can rely on ascending ones.
inline void in_pieces(std::int64_t count, int threads, ParallelForBody body,
                      const void* context) {
  const std::int64_t per_piece = (count + threads - 1) / threads;
  for (std::int64_t piece = (count + per_piece - 1) / per_piece; piece-- > 0;) {
    body(context, piece * per_piece, std::min((piece + 1) * per_piece, count));
  }
}

/// The bits of the nearest number of 16 bits with so many bits of fraction and
/// such a least exponent; written from the definition.
inline std::uint16_t half_bits(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) {
    return sign | 0x7e00;
  }
  const double size = std::fabs(static_cast<double>(x));
  if (size >= 65520) {
    return sign | 0x7c00;
  }
  const int exponent = std::max(size == 0 ? -14 : std::ilogb(size), -14);
  const double units = std::nearbyint(std::ldexp(size, 10 - exponent));
  // A carry out of the fraction is one more in the exponent.
  return static_cast<std::uint16_t>(
      sign | (static_cast<int>(units) + (exponent + 14) * 1024));
}

inline float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double size = exponent == 0 ? std::ldexp(fraction, -24)
                              : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    size = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  }
  return static_cast<float>((bits & 0x8000) != 0 ? -size : size);
}

inline float round_to(DType dtype, float x) {
  if (dtype == DType::kFloat32) {
    return x;
  }
  if (dtype == DType::kFloat16) {
    return half_value(half_bits(x));
  }
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (!std::isnan(x)) {
    bits += 0x7fff + (bits >> 16 & 1);
  }
  return std::bit_cast<float>(bits & 0xffff0000);
}

/// Elements of an array of float, bfloat16 or Half at an address that is a
/// multiple of the element's size only, after a guard zone. An output has
/// another one after it; an input ends where its memory does, for the address
/// sanitizer.
class Array {
 public:
  Array(DType dtype, std::int64_t count, bool is_output = false)
      : dtype_(dtype), size_(size_of(dtype)),
        bytes_(static_cast<std::size_t>(count + (is_output ? 2 : 1) * kGuard) *
                   size_,
               kPoison) {}

  void* data() { return bytes_.data() + kGuard * size_; }

  float get(std::int64_t index) const {
    std::uint32_t bits = 0;
    if (size_ == 2) {
      std::uint16_t half = 0;
      std::memcpy(&half, at(index), 2);
      if (dtype_ == DType::kFloat16) {
        return half_value(half);
      }
      bits = static_cast<std::uint32_t>(half) << 16;
    } else {
      std::memcpy(&bits, at(index), 4);
    }
    return std::bit_cast<float>(bits);
  }

  void set(std::int64_t index, float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto half = dtype_ == DType::kFloat16
                          ? half_bits(x)
                          : static_cast<std::uint16_t>(bits >> 16);
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

  DType dtype_;
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

inline double activated(Activation activation, double x) {
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

inline Case make_case(DType dtype, const Operands& operands) {
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
inline void vary(Case& test, unsigned n) {
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
inline void run_and_compare(const Kernel& kernel, Case test,
                            const Operands& operands, const Config& config) {
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

  const auto plan = kernel.prepare(to_key(p), config);
  ASSERT_NE(plan, nullptr);
  Arguments arguments;
  arguments.operands[kGemmA] = a.data();
  arguments.operands[kGemmB] = b.data();
  arguments.operands[kGemmOut] = out.data();
  arguments.operands[kGemmBias] = p.has_bias() ? bias.data() : nullptr;
  arguments.alpha = test.alpha;
  arguments.beta = test.beta;
  ASSERT_TRUE(plan->run(arguments, Stream{}).is_ok());

  const double rounding = p.out_dtype == DType::kBFloat16  ? 0x1p-8
                          : p.out_dtype == DType::kFloat16 ? 0x1p-11
                                                           : 0x1p-22;
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
      x = activated(p.activation, x);
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
                      << p.transpose_a << p.transpose_b << " type "
                      << int(p.a_dtype) << " pad " << test.pad << " activation "
                      << int(p.activation) << " alpha " << test.alpha
                      << " beta " << test.beta << " " << config.to_text() << " "
                      << to_text(cpu::usable_isa());
}

/// Loops of which so many are whole, and the one after them ends for want of
/// memory when its first piece is done.
struct ScarceMemory {
  static inline int whole_loops = 0;

  static void in_pieces(std::int64_t count, int threads, ParallelForBody body,
                        const void* context) {
    if (whole_loops-- > 0) {
      tunedops::in_pieces(count, threads, body, context);
      return;
    }
    body(context, 0, 1);
    throw std::bad_alloc();
  }
};

/// How a sum into what its output holds already ends where memory is scarce.
struct ScarceRun {
  bool threw = false;
  bool is_ok = false;
  bool wrote = false;
  std::string reason;
};

inline ScarceRun run_with_scarce_memory(const Kernel& kernel, GemmProblem p,
                                        const Config& config, int whole_loops) {
  p.lda = p.transpose_a ? p.k : p.m;
  p.ldb = p.transpose_b ? p.n : p.k;
  p.ldc = p.m;
  p.stride_a = p.m * p.k;
  p.stride_b = p.n * p.k;
  p.stride_c = p.m * p.n;
  p.beta = ScalarClass::kOne;
  const auto ones = [&](DType dtype, std::int64_t count) {
    Array array(dtype, count);
    for (std::int64_t i = 0; i < count; ++i) {
      array.set(i, 1);
    }
    return array;
  };
  Array a = ones(p.a_dtype, p.batch * p.stride_a);
  Array b = ones(p.b_dtype, p.batch * p.stride_b);
  Array out = ones(p.out_dtype, p.batch * p.stride_c);
  Arguments arguments;
  arguments.operands = {a.data(), b.data(), out.data()};
  arguments.beta = 1;
  ScarceRun run;
  ScarceMemory::whole_loops = whole_loops;
  install_parallel_for(&ScarceMemory::in_pieces);
  try {
    const Status status =
        kernel.prepare(to_key(p), config)->run(arguments, Stream{});
    run.is_ok = status.is_ok();
    run.reason = status.reason();
  } catch (const StatusError& error) {
    run.threw = true;
    run.reason = error.status().reason();
  }
  install_parallel_for(&in_pieces);
  for (std::int64_t i = 0; i < p.batch * p.stride_c; ++i) {
    run.wrote = run.wrote || out.get(i) != 1;
  }
  return run;
}

class CpuProductsTest : public testing::Test {
 protected:
  CpuProductsTest() { install_parallel_for(&in_pieces); }

  ~CpuProductsTest() override { cpu::set_isa_limit(std::nullopt); }

  /// Calls `body` once per instruction set that this CPU has.
  template <class Body>
  static void for_each_isa(const Body& body) {
    for (int isa = 0; isa <= static_cast<int>(cpu::detected_isa()); ++isa) {
      cpu::set_isa_limit(cpu::Isa{static_cast<std::uint8_t>(isa)});
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
};

/// For suites that run with every type of the CPU's kernels.
inline const auto kCpuTypes =
    testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16);

inline std::string cpu_type_name(const testing::TestParamInfo<DType>& info) {
  return info.param == DType::kFloat32    ? "Float32"
         : info.param == DType::kBFloat16 ? "BFloat16"
                                          : "Float16";
}

}  // namespace tunedops
