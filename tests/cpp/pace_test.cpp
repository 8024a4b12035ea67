// A program whose shapes keep changing must stop tuning by itself, for good or
// for the family of problems that grows.

#include "tuning/pace.h"

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

std::vector<ProblemKey> families(const GemmProblem& problem) {
  return gemm_op().definition.families(to_key(problem));
}

std::vector<ProblemKey> families(std::int64_t m, std::int64_t n,
                                 std::int64_t k) {
  return families(gemm_problem(m, n, k));
}

// How many of the problems that `problem_of` makes for the lengths 1 to 200 are
// tuned.
template <class ProblemOf>
int tuned(Pace& pace, const ProblemOf& problem_of,
          std::int64_t max_variants = 5) {
  int tuned = 0;
  for (std::int64_t length = 1; length <= 200; ++length) {
    const auto grown = families(problem_of(length));
    if (pace.allows(grown, max_variants)) {
      pace.spend(grown, 1);
      ++tuned;
    }
  }
  return tuned;
}

template <class ProblemOf>
int tuned(const ProblemOf& problem_of) {
  Pace pace;
  return tuned(pace, problem_of);
}

GemmProblem batched_problem(std::int64_t m, std::int64_t n, std::int64_t k,
                            std::int64_t batch) {
  GemmProblem p = gemm_problem(m, n, k);
  p.batched = true;
  p.batch = batch;
  p.stride_a = m * k;
  p.stride_b = k * n;
  p.stride_c = m * n;
  return p;
}

TEST(Pace, KnowsWhatIsLeft) {
  Pace pace;
  EXPECT_EQ(pace.left_ms(100), 100);
  pace.spend(families(1, 1, 1), 60);
  EXPECT_EQ(pace.left_ms(100), 40);
  pace.spend(families(2, 2, 2), 41);
  EXPECT_LT(pace.left_ms(100), 0);
  EXPECT_GT(pace.left_ms(102), 0);
}

TEST(Pace, StopsAFamilyThatGrowsInOneDimension) {
  Pace pace;
  for (std::int64_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(pace.allows(families(64, n, 64), 3)) << n;
    pace.spend(families(64, n, 64), 1);
  }
  EXPECT_FALSE(pace.allows(families(64, 4, 64), 3));
  EXPECT_TRUE(pace.allows(families(64, 4, 64), 4));
  // Another layer of the program is another family.
  EXPECT_TRUE(pace.allows(families(128, 4, 64), 3));
}

// 32 heads of 64, as attention without a fused kernel multiplies them when the
// cache of keys and values grows by a token a time: what lies between heads
// grows too, and so do leading dimensions.
TEST(Pace, StopsACacheThatGrows) {
  const auto scores = [](std::int64_t length) {
    GemmProblem p = batched_problem(length, 1, 64, 32);
    p.transpose_a = true;  // keys lie as [head, length, 64]
    p.lda = 64;
    return p;
  };
  EXPECT_EQ(tuned(scores), 5);
  const auto values = [](std::int64_t length) {
    return batched_problem(64, 1, length, 32);
  };
  EXPECT_EQ(tuned(values), 5);
  const auto transposed_values = [](std::int64_t length) {
    GemmProblem p = batched_problem(64, 1, length, 32);
    p.transpose_a = true;
    p.lda = length;
    return p;
  };
  EXPECT_EQ(tuned(transposed_values), 5);
  // Kept as [length, head, 64]: heads lie beside one another.
  const auto interleaved = [](std::int64_t length) {
    GemmProblem p = batched_problem(64, 1, length, 32);
    p.lda = 32 * 64;
    p.stride_a = 64;
    return p;
  };
  EXPECT_EQ(tuned(interleaved), 5);
  const auto more_sequences = [](std::int64_t count) {
    return batched_problem(64, 1, 100, 32 * count);
  };
  EXPECT_EQ(tuned(more_sequences), 5);
}

// The whole sequence each time, as without a cache, or while prompts of all
// lengths are read: the length is in two places.
TEST(Pace, StopsAttentionOverAWholeSequence) {
  const auto scores = [](std::int64_t length) {
    return batched_problem(length, length, 64, 32);
  };
  EXPECT_LE(tuned(scores), 6) << "where the length is 64, it is there thrice";
  const auto values = [](std::int64_t length) {
    return batched_problem(64, length, length, 32);
  };
  EXPECT_LE(tuned(values), 6);
  const auto gradient = [](std::int64_t length) {
    return batched_problem(length, 64, length, 32);
  };
  EXPECT_LE(tuned(gradient), 6);
  const auto square = [](std::int64_t length) {
    return gemm_problem(length, length, length);
  };
  EXPECT_EQ(tuned(square), 5);
}

// On GPUs: where the cache begins changes as it grows.
TEST(Pace, AlignmentMakesNoFamily) {
  const auto slices = [](std::int64_t length) {
    GemmProblem p = gemm_problem(length, 1, 64);
    p.header.device_type = DeviceType::kCuda;
    p.header.threads = 0;
    p.align_a = static_cast<std::uint8_t>(length % 2 == 0 ? 16 : 4);
    return p;
  };
  EXPECT_EQ(tuned(slices), 5);
}

// A model's layers, at one number of tokens after the other: each has its own
// share, whatever the others used.
TEST(Pace, LayersDoNotUseUpOneAnothersShare) {
  Pace pace;
  for (const std::int64_t m : {1024, 4096, 6144, 11008, 32000}) {
    for (const std::int64_t k : {4096, 11008}) {
      EXPECT_EQ(tuned(pace,
                      [&](std::int64_t length) {
                        return gemm_problem(m, 5000 + length, k);
                      }),
                5)
          << m << ' ' << k;
    }
  }
}

TEST(Pace, ProblemsThatDifferInTwoLengthsAreNoFamily) {
  EXPECT_EQ(tuned([](std::int64_t length) {
              return gemm_problem(length, length + 500, 64);
            }),
            200);
}

TEST(Pace, ZeroMeansNever) {
  EXPECT_LE(Pace().left_ms(0), 0);
  EXPECT_FALSE(Pace().allows(families(1, 1, 1), 0));
}

}  // namespace
}  // namespace tunedops
