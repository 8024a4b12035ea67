// Operands to tune on: aligned exactly as the key promises, never the caller's,
// with everything around and between the elements of an output watched.

#include "tuning/tuning_buffers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "fake_kernel.h"

namespace tunedops {
namespace {

constexpr std::size_t kPlenty = std::size_t{64} << 20;

class TuningBuffersTest : public testing::Test {
 protected:
  TuningBuffers make(const GemmProblem& problem, std::size_t rotating = 0,
                     std::size_t memory = kPlenty, std::size_t workspace = 0,
                     std::size_t counters = 0) {
    return {backend_,        gemm_op().definition,
            to_key(problem), {},
            rotating,        memory,
            workspace,       counters};
  }

  // A 3x2 output in columns of 5, so that there are gaps to write into.
  static GemmProblem with_gaps() {
    GemmProblem p = gemm_problem(3, 2, 4);
    p.ldc = 5;
    return p;
  }

  static float* out(const TuningBuffers& buffers) {
    return static_cast<float*>(buffers.arguments(0).operands[kGemmOut]);
  }

  static void write_all(const TuningBuffers& buffers, const GemmProblem& p) {
    for (std::int64_t z = 0; z < p.batch; ++z) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        for (std::int64_t i = 0; i < p.m; ++i) {
          out(buffers)[z * p.stride_c + j * p.ldc + i] = 1.0F;
        }
      }
    }
  }

  static std::complex<double> gathered(TuningBuffers& buffers,
                                       std::int64_t index) {
    std::complex<double> value;
    EXPECT_TRUE(buffers.gather_output({&index, 1}, {&value, 1}).is_ok());
    return value;
  }

  FakeDevice device_;
  FakeBackend backend_{device_};
};

// The first copy is there in any case.
TEST_F(TuningBuffersTest, FillsMoreCopiesWhileThereIsTime) {
  for (const int times : {0, 1, 2, 3, 100}) {
    int asked = 0;
    const TuningBuffers buffers(backend_, gemm_op().definition,
                                to_key(gemm_problem(16, 16, 16)), {}, 100000,
                                kPlenty, 0, 0, [&] { return asked++ < times; });
    ASSERT_TRUE(buffers.status().is_ok());
    const std::size_t most = make(gemm_problem(16, 16, 16), 100000).copies();
    EXPECT_GT(most, 8U);
    EXPECT_EQ(buffers.copies(),
              std::min<std::size_t>(most, 1 << std::min(times, 20)));
    const std::size_t last = buffers.copies() - 1;
    const auto* first =
        static_cast<const float*>(buffers.arguments(0).operands[kGemmA]);
    const auto* copy =
        static_cast<const float*>(buffers.arguments(last).operands[kGemmA]);
    EXPECT_TRUE(std::equal(first, first + 256, copy));
  }
}

TEST_F(TuningBuffersTest, AlignsEachOperandAsPromisedAndNoBetter) {
  for (const int promise : {1, 2, 4, 8}) {
    GemmProblem p = gemm_problem(7, 5, 3);
    p.bias_dtype = DType::kFloat32;
    p.align_a = static_cast<std::uint8_t>(promise);
    p.align_out = static_cast<std::uint8_t>(promise);
    const TuningBuffers buffers = make(p, 20000);
    ASSERT_TRUE(buffers.status().is_ok());
    ASSERT_GT(buffers.copies(), 1U);
    for (std::size_t copy = 0; copy < buffers.copies(); ++copy) {
      const Arguments arguments = buffers.arguments(copy);
      const auto address = [&arguments](GemmOperand operand) {
        return reinterpret_cast<std::uintptr_t>(arguments.operands[operand]);
      };
      for (const GemmOperand operand : {kGemmA, kGemmOut}) {
        EXPECT_EQ(address(operand) % static_cast<unsigned>(promise), 0U);
        EXPECT_NE(address(operand) % static_cast<unsigned>(2 * promise), 0U);
      }
      EXPECT_EQ(address(kGemmB) % 16, 0U);
      EXPECT_EQ(address(kGemmBias) % 16, 0U);
    }
  }
}

// As in a program, whose allocator gives large tensors pages of their own.
TEST_F(TuningBuffersTest, LargeOperandsBeginAtAPage) {
  const TuningBuffers buffers =
      make(gemm_problem(2048, 8, 1024), 24 << 20, std::size_t{128} << 20);
  ASSERT_GE(buffers.copies(), 2U);
  constexpr std::intptr_t kPage = 2 << 20;
  const auto distance = [&](GemmOperand operand, std::size_t copy) {
    return static_cast<std::byte*>(buffers.arguments(copy).operands[operand]) -
           static_cast<std::byte*>(buffers.arguments(0).operands[kGemmA]);
  };
  EXPECT_EQ(distance(kGemmA, 1) % kPage, 0);
  EXPECT_EQ(distance(kGemmB, 0) % 512, 0);
}

TEST_F(TuningBuffersTest, InputsAreNormalAndOutputsAreNan) {
  const TuningBuffers buffers = make(gemm_problem(100, 70, 80));
  const auto* a =
      static_cast<const float*>(buffers.arguments(0).operands[kGemmA]);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 8000; ++i) {
    sum += a[i];
    squares += static_cast<double>(a[i]) * a[i];
  }
  EXPECT_NEAR(sum / 8000, 0, 0.06);
  EXPECT_NEAR(squares / 8000, 1, 0.1);
  EXPECT_GT(std::set<float>(a, a + 8000).size(), 4000U) << "few repetitions";
  for (int i = 0; i < 7000; ++i) {
    ASSERT_TRUE(std::isnan(out(buffers)[i]));
  }
}

TEST_F(TuningBuffersTest, AnOutputThatIsReadHasNumbers) {
  GemmProblem p = gemm_problem(8, 8, 8);
  p.beta = ScalarClass::kAny;
  const TuningBuffers buffers = make(p);
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(std::isfinite(out(buffers)[i]));
  }
  EXPECT_EQ(buffers.arguments(0).beta, -0.75);
  EXPECT_EQ(buffers.arguments(0).alpha, 1.0);
}

TEST_F(TuningBuffersTest, AbsentOperandsAreNull) {
  const TuningBuffers buffers = make(gemm_problem(2, 2, 2));
  EXPECT_EQ(buffers.arguments(0).operands[kGemmBias], nullptr);
  EXPECT_EQ(buffers.elements()[kGemmBias].dtype(), DType::kNone);
  EXPECT_NE(buffers.arguments(0).operands[kGemmA], nullptr);
  EXPECT_EQ(buffers.output().name, "out");
}

TEST_F(TuningBuffersTest, ElementsAreWhatEveryCopyHas) {
  GemmProblem p = gemm_problem(9, 8, 7);
  p.ldb = 10;
  p.beta = ScalarClass::kOne;
  p.bias_dtype = DType::kBFloat16;
  const TuningBuffers buffers = make(p, 20000);
  const std::vector<Operand> operands =
      gemm_op().definition.operands(to_key(p));
  ASSERT_GT(buffers.copies(), 2U);
  for (std::size_t copy = 0; copy < buffers.copies(); ++copy) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const void* const data = buffers.arguments(copy).operands[i];
      const Operand& operand = operands[i];
      for (std::int64_t at = 0; at < operand.extent(); ++at) {
        const auto value =
            load_element(operand.dtype, data, static_cast<std::size_t>(at));
        if (at % operand.outer_stride < operand.inner) {
          ASSERT_EQ(value, buffers.elements()[i].at(at)) << operand.name;
        } else {
          ASSERT_TRUE(std::isnan(value.real())) << operand.name;
        }
      }
    }
  }
}

// Who reads what is not its own reads NaN, in every copy.
TEST_F(TuningBuffersTest, EverythingAroundOperandsIsNan) {
  const TuningBuffers buffers = make(with_gaps(), 20000);
  for (std::size_t copy = 0; copy < buffers.copies(); ++copy) {
    const auto* a =
        static_cast<const float*>(buffers.arguments(copy).operands[kGemmA]);
    const auto* b =
        static_cast<const float*>(buffers.arguments(copy).operands[kGemmB]);
    for (int i = 1; i <= 64; ++i) {
      ASSERT_TRUE(std::isnan(a[-i]));
      ASSERT_TRUE(std::isnan(a[3 * 4 - 1 + i]));
      ASSERT_TRUE(std::isnan(b[-i]));
      ASSERT_TRUE(std::isnan(b[4 * 2 - 1 + i]));
    }
  }
}

TEST_F(TuningBuffersTest, GathersWhatWasWritten) {
  const GemmProblem p = with_gaps();
  TuningBuffers buffers = make(p);
  write_all(buffers, p);
  EXPECT_TRUE(buffers.check_untouched().is_ok());
  EXPECT_EQ(gathered(buffers, 7).real(), 1.0);
  EXPECT_TRUE(std::isnan(gathered(buffers, 3).real()));
}

TEST_F(TuningBuffersTest, ComparesWithWhatWasKept) {
  GemmProblem p = with_gaps();
  p.align_out = 4;
  TuningBuffers buffers = make(p, 1 << 20);
  write_all(buffers, p);
  ASSERT_TRUE(buffers.keep_output().is_ok());
  std::optional<TuningBuffers::Difference> difference;
  ASSERT_TRUE(buffers.compare_with_kept({}, difference).is_ok());
  EXPECT_FALSE(difference);
  out(buffers)[6] += 0.5F;
  ASSERT_TRUE(buffers.compare_with_kept({.absolute = 0.6}, difference).is_ok());
  EXPECT_FALSE(difference);
  ASSERT_TRUE(buffers.compare_with_kept({.absolute = 0.4}, difference).is_ok());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->index, 6);
  EXPECT_EQ(difference->value, 1.5);
  EXPECT_EQ(difference->kept, 1.0);
}

TEST_F(TuningBuffersTest, WhatIsKeptCountsAsMemory) {
  constexpr std::size_t kOutput = 64 * 64 * sizeof(float);
  constexpr std::size_t kCopy = 3 * (kOutput + 1024);
  const GemmProblem p = gemm_problem(64, 64, 64);
  EXPECT_FALSE(make(p, 0, kCopy + kOutput - 1).status().is_ok());
  EXPECT_EQ(make(p, 1 << 20, 2 * kCopy + kOutput - 1).copies(), 1U);
  EXPECT_EQ(make(p, 1 << 20, 2 * kCopy + kOutput).copies(), 2U);
  EXPECT_EQ(device_.most_allocated.load(), 2 * kCopy + kOutput);
}

TEST_F(TuningBuffersTest, ResettingPoisonsTheOutputAgain) {
  TuningBuffers buffers = make(gemm_problem(2, 2, 2));
  out(buffers)[0] = 1;
  ASSERT_TRUE(buffers.reset_output().is_ok());
  EXPECT_TRUE(std::isnan(out(buffers)[0]));
}

TEST_F(TuningBuffersTest, ResettingFillsAnOutputThatIsReadAgain) {
  GemmProblem p = with_gaps();
  p.beta = ScalarClass::kOne;
  TuningBuffers buffers = make(p);
  const float before = out(buffers)[6];
  out(buffers)[6] = 1;
  out(buffers)[3] = 1;  // a gap
  EXPECT_FALSE(buffers.check_untouched().is_ok());
  ASSERT_TRUE(buffers.reset_output().is_ok());
  EXPECT_EQ(out(buffers)[6], before);
  EXPECT_TRUE(std::isnan(out(buffers)[3]));
  EXPECT_TRUE(buffers.check_untouched().is_ok());
}

TEST_F(TuningBuffersTest, NoticesEveryWriteOutside) {
  GemmProblem p = with_gaps();
  p.batched = true;
  p.batch = 2;
  p.stride_a = 12;
  p.stride_b = 8;
  p.stride_c = 13;  // gaps of 2 in a matrix, and of 5 between both
  TuningBuffers buffers = make(p);
  const std::int64_t extent = 13 + 5 + 3;
  const std::set<std::int64_t> inside{0, 1, 2, 5, 6, 7, 13, 14, 15, 18, 19, 20};
  for (std::int64_t at = -64; at < extent + 64; ++at) {
    ASSERT_TRUE(buffers.reset_output().is_ok());
    write_all(buffers, p);
    ASSERT_EQ(buffers.check_untouched().reason(), "");
    out(buffers)[at] = 1.0F;
    EXPECT_EQ(buffers.check_untouched().reason(),
              inside.contains(at) ? "" : "writes outside of its output")
        << at;
  }
}

// The gaps of one matrix hold elements of the others.
TEST_F(TuningBuffersTest, InterleavedMatricesAreNoStrayWrites) {
  GemmProblem p = gemm_problem(3, 4, 2);
  p.batched = true;
  p.batch = 2;
  p.stride_a = 6;
  p.stride_b = 8;
  p.ldc = 7;
  p.stride_c = 3;  // columns of 3 of either matrix, and a gap of 1
  TuningBuffers buffers = make(p);
  write_all(buffers, p);
  EXPECT_TRUE(buffers.check_untouched().is_ok());
  out(buffers)[6] = 1.0F;
  EXPECT_FALSE(buffers.check_untouched().is_ok());
}

TEST_F(TuningBuffersTest, RotatesOverMoreThanTheCache) {
  EXPECT_EQ(make(gemm_problem(64, 64, 64), 0).copies(), 1U);
  const TuningBuffers buffers = make(gemm_problem(64, 64, 64), 1 << 20);
  // A copy has 48 KiB of operands and two guards of 512 bytes for each.
  EXPECT_EQ(buffers.copies(), (1U << 20) / (48 * 1024 + 6 * 512) + 1);
  std::set<void*> addresses;
  for (std::size_t copy = 0; copy < buffers.copies(); ++copy) {
    addresses.insert(buffers.arguments(copy).operands[kGemmA]);
  }
  EXPECT_EQ(addresses.size(), buffers.copies());
}

TEST_F(TuningBuffersTest, TinyProblemsAreNotCopiedWithoutEnd) {
  EXPECT_EQ(make(gemm_problem(1, 1, 1), kPlenty).copies(), 128U);
}

TEST_F(TuningBuffersTest, StaysWithinTheMemoryLimit) {
  constexpr std::size_t kLimit = 1 << 20;
  {
    const TuningBuffers buffers =
        make(gemm_problem(64, 64, 64), 32 << 20, kLimit, 1 << 18);
    EXPECT_TRUE(buffers.status().is_ok());
    EXPECT_GT(buffers.copies(), 4U);
    EXPECT_NE(buffers.arguments(0).workspace, nullptr);
    EXPECT_LE(device_.most_allocated.load(), kLimit);
  }
  EXPECT_EQ(device_.allocated.load(), 0U) << "everything is given back";
}

TEST_F(TuningBuffersTest, TooLittleMemoryIsAReasonAndTakesNone) {
  constexpr std::size_t kLimit = 1 << 14;
  for (const auto& buffers : {make(gemm_problem(64, 64, 64), 0, kLimit),
                              make(gemm_problem(2, 2, 2), 0, kLimit, kLimit)}) {
    EXPECT_EQ(buffers.status().code(), Status::Code::kUnsupported);
    EXPECT_EQ(buffers.status().reason(), "not enough free memory to tune on");
  }
  EXPECT_EQ(device_.most_allocated.load(), 0U);
  device_.out_of_memory = true;
  EXPECT_FALSE(make(gemm_problem(2, 2, 2)).status().is_ok());
  EXPECT_FALSE(make(gemm_problem(2, 2, 2), 0, kPlenty, 64).status().is_ok());
}

TEST_F(TuningBuffersTest, CountersAreZeroAndSharedByAllCopies) {
  const GemmProblem p = gemm_problem(4, 4, 4);
  EXPECT_EQ(make(p).arguments(0).counters, nullptr);
  const std::size_t without = device_.most_allocated;
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{33}, kMostCounters}) {
    device_.most_allocated = 0;
    const TuningBuffers buffers = make(p, 0, kPlenty, 0, count);
    ASSERT_TRUE(buffers.status().is_ok());
    EXPECT_EQ(device_.most_allocated, without + count * sizeof(unsigned));
    const unsigned* const counters = buffers.arguments(0).counters;
    ASSERT_NE(counters, nullptr);
    EXPECT_EQ(std::count(counters, counters + count, 0U),
              static_cast<std::ptrdiff_t>(count));
  }
  EXPECT_EQ(device_.allocated.load(), 0U) << "everything is given back";
  const TuningBuffers buffers = make(p, 1 << 16, kPlenty, 0, 7);
  ASSERT_GT(buffers.copies(), 1U);
  EXPECT_EQ(buffers.arguments(0).counters, buffers.arguments(1).counters);
  EXPECT_EQ(buffers.arguments(0).workspace, nullptr);
}

TEST_F(TuningBuffersTest, CountersThatAreNotLeftZeroAreNoticedAndCleared) {
  const GemmProblem p = gemm_problem(2, 2, 2);
  TuningBuffers buffers = make(p, 0, kPlenty, 0, 40);
  write_all(buffers, p);
  EXPECT_TRUE(buffers.check_untouched().is_ok());
  for (const unsigned left : {1U, 7U, 4000U, 0xffffffffU}) {
    buffers.arguments(0).counters[39] = left;
    EXPECT_EQ(buffers.check_untouched().reason(),
              "leaves counters that are not zero");
    EXPECT_EQ(buffers.arguments(0).counters[39], 0U);
  }
}

TEST_F(TuningBuffersTest, CountersAreNoPartOfTheWorkspace) {
  const TuningBuffers buffers = make(gemm_problem(4, 4, 4), 0, kPlenty, 64, 16);
  const Arguments arguments = buffers.arguments(0);
  ASSERT_NE(arguments.workspace, nullptr);
  std::memset(arguments.workspace, 0xff, 64);
  EXPECT_EQ(std::count(arguments.counters, arguments.counters + 16, 0U), 16);
}

TEST_F(TuningBuffersTest, ServesAnyOp) {
  TuningBuffers buffers(backend_, scale_op().definition, scale_problem(10), {},
                        0, kPlenty, 0);
  compute_scale(scale_problem(10), buffers.arguments(0));
  ASSERT_TRUE(buffers.check_untouched().is_ok());
  EXPECT_EQ(gathered(buffers, 9), 2.0 * buffers.elements()[0].at(9));
}

}  // namespace
}  // namespace tunedops
