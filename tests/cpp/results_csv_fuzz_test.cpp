// Random damage to a results file, a bounded and repeatable amount of it. The
// parser must survive, stay within its limits, and write a file that it reads
// again in the same way.

#include <random>

#include <gtest/gtest.h>

#include "tuning/results_csv.h"

namespace tunedops {
namespace {

constexpr const char* kSeed =
    "\xef\xbb\xbf# made by hand\r\n"
    "Validator,TUNEDOPS_KERNELS,3\n"
    "Validator,DEVICE,9.0:NVIDIA H200:132\n"
    "# the big one\n"
    "GemmTunableOp_BFloat16_TN,tn_4096_16_4096_ld_4096_4096_4096,"
    "Gemm_Cublaslt_id_66_tile_312,0.01295\n"
    "GemmTunableOp_float_NN,nn_64_64_64_ld_64_64_64_threads_8,Default,0.5,0.5,"
    "clock,100,0.0042,0.02,2026-11-30\n"
    "\n"
    "GemmStridedBatchedTunableOp_BFloat16_NN,nn_64_64_64_B_1024_ld_64_64_64,"
    "Default\n"
    "ScaleTunableOp_float,n_7,Scale_tile_1x2,1e-3,,x\n"
    "# end\n";

std::string mutated(std::string text, std::mt19937& engine) {
  const auto at_most = [&engine](std::size_t most) {
    return static_cast<std::size_t>(engine()) % (most + 1);
  };
  for (std::size_t changes = 1 + at_most(8); changes > 0; --changes) {
    const std::size_t at = at_most(text.size());
    const std::size_t length =
        at_most(std::min<std::size_t>(40, text.size() - at));
    switch (at_most(5)) {
    case 0:  // any byte
      text.insert(at, 1, static_cast<char>(at_most(255)));
      break;
    case 1:  // a byte that means something
      text.insert(at, 1, std::string(",\n\r# \t_\0x", 9)[at_most(8)]);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:  // a piece again
      text.insert(at_most(text.size()), text.substr(at, length));
      break;
    case 4:
      text.insert(at, std::string(at_most(5000), 'z'));
      break;
    default:
      text.insert(at, "Validator,DEVICE,other\n");
    }
  }
  return text;
}

void expect_sound(const CsvDocument& document) {
  ASSERT_LE(document.complaints.size(), 20U);
  for (const CsvRow& row : document.rows) {
    ASSERT_FALSE(row.key.op.empty());
    ASSERT_FALSE(row.key.params.empty());
    ASSERT_FALSE(row.solution.empty());
    ASSERT_LE(row.extra.size(), 13U);
    ASSERT_GT(row.line, 0U);
    ASSERT_GT(row.time_ms().value_or(1), 0);
    ASSERT_GT(row.default_ms().value_or(1), 0);
    ASSERT_LE(row.timing().value_or("").size(), 32U);
    ASSERT_GT(row.samples().value_or(1), 0);
    ASSERT_GE(row.spread().value_or(0), 0);
    ASSERT_GE(row.margin().value_or(0), 0);
    ASSERT_EQ(row.date().value_or("2026-11-30").size(), 10U);
    const std::string line = format_row(row);
    ASSERT_LE(line.size(), 4097U);
    ASSERT_EQ(line.find_first_of(std::string("\r\0\x1b", 3)),
              std::string::npos);
    ASSERT_EQ(line.find('\n'), line.size() - 1);
  }
}

TEST(ResultsCsvFuzz, DamageNeitherCrashesNorSpreads) {
  std::mt19937 engine(20240229);
  std::size_t rows_read = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = mutated(kSeed, engine);
    const CsvDocument document = parse_results(text);
    ASSERT_NO_FATAL_FAILURE(expect_sound(document)) << text;
    const std::string once = format_results(document);
    const CsvDocument again = parse_results(once);
    ASSERT_NO_FATAL_FAILURE(expect_sound(again)) << once;
    ASSERT_EQ(again.rows.size(), document.rows.size()) << text;
    ASSERT_EQ(again.validators, document.validators) << text;
    ASSERT_FALSE(again.torn) << text;
    ASSERT_EQ(format_results(again), once) << text;
    rows_read += document.rows.size();
  }
  EXPECT_GT(rows_read, 20000U) << "the damage leaves nothing to read";
}

TEST(ResultsCsvFuzz, NoiseIsNoFile) {
  std::mt19937 engine(5);
  for (int round = 0; round < 500; ++round) {
    std::string text(engine() % 3000, '\0');
    for (char& c : text) {
      c = static_cast<char>(engine());
    }
    const CsvDocument document = parse_results(text);
    ASSERT_NO_FATAL_FAILURE(expect_sound(document));
    const std::string once = format_results(document);
    ASSERT_EQ(format_results(parse_results(once)), once);
  }
}

// Not a million rows, which would take a second, but enough to see that time
// does not grow with the square.
TEST(ResultsCsvFuzz, ManyRowsAndManyDuplicatesAreRead) {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += "Gemm,nn_" + std::to_string(i % 25000) + ",Default\n";
  }
  const CsvDocument document = parse_results(text);
  EXPECT_EQ(document.rows.size(), 25000U);
  EXPECT_EQ(document.rows[0].line, 25001U);
}

}  // namespace
}  // namespace tunedops
