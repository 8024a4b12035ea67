// Lines that no honest writer makes: typing errors, joined files, forged rows.
// They are reported with their line and kept where they are harmless, and
// whatever could reach a terminal or a memory limit is dropped.

#include <map>

#include <gtest/gtest.h>

#include "results_csv_fixture.h"

#include "tuning/results_csv.h"

namespace tunedops {
namespace {

// Two files one behind the other: whose rows are whose is not known, so no
// environment may take them.
TEST(ResultsCsvHostile, TwoValuesOfAValidatorMatchNoEnvironment) {
  const CsvDocument document =
      parse_results("Validator,A,1\nGemm,nn_1,Gemm_A\n"
                    "Validator,A,2\nGemm,nn_2,Gemm_A\n");
  for (const char* value : {"1", "2"}) {
    Validators here;
    here.add("A", value);
    EXPECT_NE(here.mismatch(document.validators), std::nullopt) << value;
  }
  EXPECT_EQ(document.complaints.size(), 1U);
  // Saying the same twice is no contradiction.
  Validators here;
  here.add("A", "1");
  const CsvDocument twice = parse_results("Validator,A,1\nValidator,A,1\n");
  EXPECT_EQ(here.mismatch(twice.validators), std::nullopt);
  EXPECT_TRUE(twice.complaints.empty());
}

TEST(ResultsCsvHostile, LinesThatAreNotUnderstoodAreReportedAndKept) {
  const std::string text = "Validator,A\n"
                           "Validator,A,1,2\n"
                           "Gemm,nn_1\n"
                           ",,,\n"
                           "Gemm,,Default\n"
                           "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n"
                           "Gemm,nn_1,Default\n";
  const CsvDocument document = parse_results(text);
  const std::string row =
      "is not 'op,params,solution[,time_ms[,...]]' and is ignored";
  EXPECT_EQ(complaints_of(document),
            (Lines{"1: is not 'Validator,KEY,VALUE'",
                   "2: is not 'Validator,KEY,VALUE'", "3: " + row, "4: " + row,
                   "5: " + row, "6: has more than 16 fields and is ignored"}));
  ASSERT_EQ(document.rows.size(), 1U);
  EXPECT_EQ(rewritten(text), "# Validator,A\n"
                             "# Validator,A,1,2\n"
                             "Gemm,nn_1\n"
                             ",,,\n"
                             "Gemm,,Default\n"
                             "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n"
                             "Gemm,nn_1,Default\n");
}

TEST(ResultsCsvHostile, ControlCharactersNeverGetIn) {
  for (const char c : {'\0', '\x01', '\x1b', '\x7f', '\v', '\r'}) {
    const std::string row = std::string("Gemm,nn_1,Def") + c + "ault\n";
    const CsvDocument document = parse_results(row + "Gemm,nn_2,Default\n");
    ASSERT_EQ(document.rows.size(), 1U) << static_cast<int>(c);
    EXPECT_EQ(document.rows[0].key.params, "nn_2");
    EXPECT_EQ(complaints_of(document),
              Lines{"1: holds control characters and is dropped"});
    EXPECT_EQ(rewritten(row + "Gemm,nn_2,Default\n"), "Gemm,nn_2,Default\n");
  }
}

// They would raise an error in whoever hands them on as text.
TEST(ResultsCsvHostile, BytesThatAreNoTextAreNoRow) {
  const std::string text = "# caf\xe9\nGemm,nn_\xff,Default\n"
                           "Gemm,nn_1,Default\n";
  const CsvDocument document = parse_results(text);
  ASSERT_EQ(document.rows.size(), 1U);
  EXPECT_EQ(document.rows[0].key.params, "nn_1");
  EXPECT_EQ(complaints_of(document),
            Lines{"2: holds bytes that are not UTF-8 and is ignored"});
  EXPECT_EQ(rewritten(text), text);
}

TEST(ResultsCsvHostile, LongLinesAndManyComplaintsAreBounded) {
  const std::string longest = "# " + std::string(4094, 'x') + '\n';
  EXPECT_EQ(parse_results(longest).tail_comments.size(), 1U);
  const CsvDocument longer = parse_results("x" + longest);
  EXPECT_TRUE(longer.tail_comments.empty());
  EXPECT_EQ(complaints_of(longer),
            Lines{"1: is longer than 4096 characters and is dropped"});

  std::string bad;
  for (int i = 0; i < 1000; ++i) {
    bad += "not a row\n";
  }
  EXPECT_EQ(parse_results(bad).complaints.size(), 20U);
}

TEST(ResultsCsvHostile, FieldsThatCouldForgeALineAreNoFields) {
  for (const std::string& bad :
       {std::string(), std::string("a,b"), std::string("a\n"),
        std::string("\t"), std::string(" a"), std::string("a "),
        std::string("#a"), std::string("a\0", 2), std::string(513, 'a')}) {
    EXPECT_FALSE(is_csv_field(bad)) << bad;
  }
  for (const std::string& good :
       {std::string("a"), std::string("a b#c"), std::string(512, 'a'),
        std::string("9.0:NVIDIA H200:132"), std::string("\xc3\xa4")}) {
    EXPECT_TRUE(is_csv_field(good)) << good;
  }
}

}  // namespace
}  // namespace tunedops
