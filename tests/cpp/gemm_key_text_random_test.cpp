// Thousands of random problems, each with whatever fields its op has: no two of
// them share a text, every text leads back to its problem, and a text with one
// character changed leads to another problem or to none.

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

class RandomProblems {
 public:
  explicit RandomProblems(unsigned seed) : engine_(seed) {}

  // Fields without a meaning for the problem (a bias's alignment where there is
  // no bias) keep their plain values, as the op layer promises.
  GemmProblem next() {
    GemmProblem p;
    const bool cpu = chance(3);
    p.header.device_type = cpu ? DeviceType::kCpu : DeviceType::kCuda;
    p.header.threads = cpu ? static_cast<std::uint16_t>(size()) : 0;
    p.a_dtype = p.b_dtype = p.out_dtype = dtype();
    for (const int bit :
         {kFullPrecisionReduction, kDeterministic, kFp16Accumulation,
          kAllowBf16, kOneDnnDisabled, kNoSplitK}) {
      p.header.precision |= static_cast<std::uint16_t>(chance(6) ? bit : 0);
    }
    if (p.a_dtype == DType::kFloat32 && chance(2)) {
      p.header.precision |= kAllowTf32;
    }
    if (chance(4)) {
      p.out_dtype = dtype();
    }
    if (chance(3)) {
      p.bias_dtype = chance(2) ? p.out_dtype : dtype();
      p.align_bias = alignment(p.bias_dtype);
    }
    p.transpose_a = chance(2);
    p.transpose_b = chance(2);
    p.conjugate_a = chance(6);
    p.conjugate_b = chance(6);
    p.activation = static_cast<Activation>(chance(2) ? 0 : engine_() % 4);
    p.alpha = chance(3) ? ScalarClass::kAny : ScalarClass::kOne;
    p.beta = static_cast<ScalarClass>(engine_() % 3);
    p.align_a = alignment(p.a_dtype);
    p.align_b = alignment(p.b_dtype);
    p.align_out = alignment(p.out_dtype);
    p.workspace_mib = chance(5) ? static_cast<std::uint16_t>(size()) : 0;
    shape(p);
    return p;
  }

  bool chance(unsigned one_in) { return engine_() % one_in == 0; }
  unsigned up_to(unsigned most) {
    return static_cast<unsigned>(engine_() % (most + 1));
  }

 private:
  void shape(GemmProblem& p) {
    p.m = size();
    p.n = size();
    p.k = size();
    p.lda = (p.transpose_a ? p.k : p.m) + padding();
    p.ldb = (p.transpose_b ? p.n : p.k) + padding();
    p.ldc = p.m + padding();
    p.batched = chance(3);
    if (p.batched) {
      p.batch = size();
      const PackedStrides packed = packed_strides(p);
      p.stride_a = chance(4) ? 0 : packed.a + padding();
      p.stride_b = chance(4) ? 0 : packed.b + padding();
      p.stride_c = packed.c + padding();
    }
  }

  std::int64_t size() {
    return 1 + static_cast<std::int64_t>(engine_() % (chance(2) ? 16 : 5000));
  }
  std::int64_t padding() { return chance(4) ? size() : 0; }
  DType dtype() { return static_cast<DType>(1 + engine_() % 6); }
  std::uint8_t alignment(DType dtype) {
    const auto any =
        static_cast<std::size_t>(chance(2) ? 16 : 1U << engine_() % 5);
    return static_cast<std::uint8_t>(std::max(any, natural_alignment(dtype)));
  }

  std::mt19937 engine_;
};

TEST(GemmKeyTextRandom, EveryTextLeadsBackToItsProblemAlone) {
  const GemmDefinition gemm;
  RandomProblems random(11);
  // The kind of device is known from the file and not from its rows.
  std::map<std::pair<DeviceType, KeyText>, ProblemKey> seen;
  for (int i = 0; i < 20000; ++i) {
    const GemmProblem problem = random.next();
    const ProblemKey key = to_key(problem);
    const KeyText text = gemm.to_text(key);
    const auto back = gemm.from_text(text, problem.header.device());
    ASSERT_TRUE(back.has_value()) << text.op << ',' << text.params;
    ASSERT_EQ(from_key<GemmProblem>(*back), problem) << text.params;
    const auto [place, is_new] =
        seen.try_emplace({problem.header.device_type, text}, key);
    ASSERT_TRUE(is_new || place->second == key)
        << "two problems are " << text.op << ',' << text.params;
  }
  EXPECT_GT(seen.size(), 19000U);
}

TEST(GemmKeyTextRandom, TextsFitIntoALineOfAFile) {
  const GemmDefinition gemm;
  RandomProblems random(12);
  for (int i = 0; i < 2000; ++i) {
    const KeyText text = gemm.to_text(to_key(random.next()));
    for (const std::string& field : {text.op, text.params}) {
      ASSERT_LT(field.size(), 512U);
      ASSERT_EQ(field.find_first_of(", \t\r\n#"), std::string::npos) << field;
    }
  }
}

// Whatever a typing error or an enemy makes of a row, it is either not a
// problem or the one problem that it is the text of.
TEST(GemmKeyTextRandom, AChangedTextIsItsOwnProblemOrNone) {
  const GemmDefinition gemm;
  RandomProblems random(13);
  const std::string letters = "0123456789_-+ NTntBldx.:<>,abcdefgh\x01\xff";
  int read = 0;
  int rejected = 0;
  for (int i = 0; i < 20000; ++i) {
    const GemmProblem problem = random.next();
    const KeyText original = gemm.to_text(to_key(problem));
    KeyText text = original;
    std::string& field = random.chance(4) ? text.op : text.params;
    const unsigned at = random.up_to(static_cast<unsigned>(field.size()) - 1);
    const char letter =
        letters[random.up_to(static_cast<unsigned>(letters.size()) - 1)];
    switch (random.up_to(3)) {
    case 0:
      field[at] = letter;
      break;
    case 1:
      field.insert(at, 1, letter);
      break;
    case 2:
      field.erase(at, 1);
      break;
    default:
      field.resize(at);
    }
    const auto back = gemm.from_text(text, problem.header.device());
    if (!back) {
      ++rejected;
      continue;
    }
    ++read;
    ASSERT_EQ(gemm.to_text(*back), text);
    ASSERT_EQ(*back == to_key(problem), text == original) << text.params;
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(rejected, 10000);
}

}  // namespace
}  // namespace tunedops
