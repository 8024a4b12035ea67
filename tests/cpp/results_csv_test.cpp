// The grammar of results files. People edit these files, so whatever they wrote
// must survive, at its place, whichever editor and locale they used.

#include "tuning/results_csv.h"

#include <algorithm>
#include <clocale>
#include <locale>

#include <gtest/gtest.h>

#include "results_csv_fixture.h"

namespace tunedops {
namespace {

constexpr const char* kPlain = "Validator,A,1\n"
                               "Validator,B,two words\n"
                               "Gemm,nn_1,Default\n"
                               "Gemm,nn_2,Gemm_A_tile_64,0.5\n"
                               "Gemm,nn_3,Gemm_B,0.25,0.5,more\n";

TEST(ResultsCsv, ReadsValidatorsAndRows) {
  const CsvDocument document = parse_results(kPlain);
  EXPECT_TRUE(document.complaints.empty());
  EXPECT_FALSE(document.empty);
  EXPECT_FALSE(document.torn);
  EXPECT_EQ(
      document.validators.entries(),
      (std::map<std::string, std::string>{{"A", "1"}, {"B", "two words"}}));
  ASSERT_EQ(document.rows.size(), 3U);
  const CsvRow& last = document.rows[2];
  EXPECT_EQ(last.key, (KeyText{"Gemm", "nn_3"}));
  EXPECT_EQ(last.solution, "Gemm_B");
  EXPECT_EQ(last.extra, (Lines{"0.25", "0.5", "more"}));
  EXPECT_EQ(last.line, 5U);
  EXPECT_FALSE(last.won_here);
  EXPECT_EQ(last.time_ms(), 0.25);
  EXPECT_EQ(last.default_ms(), 0.5);
}

TEST(ResultsCsv, WritesWhatItRead) { EXPECT_EQ(rewritten(kPlain), kPlain); }

TEST(ResultsCsv, ATimeIsOptionalAndNeverInvented) {
  const auto time = [](const std::string& fields) {
    return parse_results("Gemm,nn_1,Default" + fields + '\n').rows[0].time_ms();
  };
  EXPECT_EQ(time(""), std::nullopt);
  EXPECT_EQ(time(",0.125"), 0.125);
  EXPECT_EQ(time(",1e-2"), 0.01);
  for (const char* bad : {",", ",fast", ",0,125", ",-1", ",0", ",inf", ",nan",
                          ",1.5ms", ",0x1p3", ",1e999"}) {
    EXPECT_EQ(time(bad), std::nullopt) << bad;
  }
}

TEST(ResultsCsv, ARowSaysHowItWasFound) {
  const std::string text = "Gemm,nn_1,Gemm_A,0.5,1,clock,100,0.0042,0.02,"
                           "2026-11-30,of a later version\n";
  const CsvRow row = parse_results(text).rows[0];
  EXPECT_EQ(row.time_ms(), 0.5);
  EXPECT_EQ(row.default_ms(), 1.0);
  EXPECT_EQ(row.timing(), "clock");
  EXPECT_EQ(row.samples(), 100);
  EXPECT_EQ(row.spread(), 0.0042);
  EXPECT_EQ(row.margin(), 0.02);
  EXPECT_EQ(row.date(), "2026-11-30");
  EXPECT_EQ(rewritten(text), text);
}

// Whoever edits a row may stop anywhere, or leave something out.
TEST(ResultsCsv, EachFieldBehindTheSolutionMayBeAbsent) {
  const std::string whole = "Gemm,nn_1,Gemm_A,0.5,1,clock,100,0.0042,0.02,"
                            "2026-11-30";
  for (std::size_t end = whole.find(",0.5"); end != std::string::npos;
       end = whole.find(',', end + 1)) {
    const std::string line = whole.substr(0, end) + '\n';
    const CsvDocument document = parse_results(line);
    EXPECT_TRUE(document.complaints.empty()) << line;
    ASSERT_EQ(document.rows.size(), 1U) << line;
    const CsvRow& row = document.rows[0];
    const std::size_t fields = row.extra.size();
    EXPECT_EQ(row.time_ms().has_value(), fields > 0) << line;
    EXPECT_EQ(row.default_ms().has_value(), fields > 1) << line;
    EXPECT_EQ(row.timing().has_value(), fields > 2) << line;
    EXPECT_EQ(row.samples().has_value(), fields > 3) << line;
    EXPECT_EQ(row.spread().has_value(), fields > 4) << line;
    EXPECT_EQ(row.margin().has_value(), fields > 5) << line;
    EXPECT_EQ(row.date(), std::nullopt) << line;
    EXPECT_EQ(rewritten(line), line);
  }
  const std::string gaps = "Gemm,nn_1,Gemm_A,,,,100,,,2026-11-30\n";
  const CsvRow row = parse_results(gaps).rows[0];
  EXPECT_EQ(row.time_ms(), std::nullopt);
  EXPECT_EQ(row.timing(), std::nullopt);
  EXPECT_EQ(row.samples(), 100);
  EXPECT_EQ(row.spread(), std::nullopt);
  EXPECT_EQ(row.date(), "2026-11-30");
  EXPECT_EQ(rewritten(gaps), gaps);
}

TEST(ResultsCsv, EmptyMeansNothingButSpace) {
  for (const char* text : {"", "\n", "  \n\t\n\r\n", "\xef\xbb\xbf"}) {
    EXPECT_TRUE(parse_results(text).empty);
    EXPECT_TRUE(parse_results(text).complaints.empty());
  }
  EXPECT_FALSE(parse_results("# a comment\n").empty);
}

TEST(ResultsCsv, CommentsStayWithTheRowBelow) {
  const std::string text = "# of the file\n"
                           "Validator,A,1\n"
                           "# of the second row,\n"
                           "  # in two lines\n"
                           "Gemm,nn_2,Default\n"
                           "# of the first row\n"
                           "Gemm,nn_1,Default\n"
                           "# at the end\n";
  const CsvDocument document = parse_results(text);
  EXPECT_EQ(document.head_comments, Lines{"# of the file"});
  EXPECT_EQ(document.rows[0].comments,
            (Lines{"# of the second row,", "  # in two lines"}));
  EXPECT_EQ(document.tail_comments, Lines{"# at the end"});
  EXPECT_TRUE(document.complaints.empty());
  EXPECT_EQ(rewritten(text), "# of the file\n"
                             "Validator,A,1\n"
                             "# of the first row\n"
                             "Gemm,nn_1,Default\n"
                             "# of the second row,\n"
                             "  # in two lines\n"
                             "Gemm,nn_2,Default\n"
                             "# at the end\n");
}

TEST(ResultsCsv, TabsAreSpaceAndSurviveInComments) {
  const CsvDocument document =
      parse_results("#\tmine\nGemm,\tnn_1 ,Default\t,\t0.5\n");
  EXPECT_TRUE(document.complaints.empty());
  ASSERT_EQ(document.rows.size(), 1U);
  EXPECT_EQ(document.rows[0].key.params, "nn_1");
  EXPECT_EQ(document.rows[0].solution, "Default");
  EXPECT_EQ(document.rows[0].time_ms(), 0.5);
  EXPECT_EQ(document.rows[0].comments, Lines{"#\tmine"});
}

TEST(ResultsCsv, ReadsFilesThatEditorsOfWindowsWrote) {
  const std::string text = "\xef\xbb\xbfValidator,A,1\r\nGemm,nn_1,Default\r\n";
  const CsvDocument document = parse_results(text);
  EXPECT_EQ(document.validators.entries().at("A"), "1");
  ASSERT_EQ(document.rows.size(), 1U);
  EXPECT_EQ(document.rows[0].solution, "Default");
  EXPECT_TRUE(document.complaints.empty());
  EXPECT_EQ(rewritten(text), "Validator,A,1\nGemm,nn_1,Default\n");
}

// The writer may have died in the middle of a name or of a number.
TEST(ResultsCsv, ATornLastLineIsNoRow) {
  const std::string text = "Gemm,nn_1,Default,0.5\nGemm,nn_2,Gemm_A_tile_1";
  const CsvDocument document = parse_results(text);
  EXPECT_TRUE(document.torn);
  ASSERT_EQ(document.rows.size(), 1U);
  EXPECT_EQ(complaints_of(document),
            Lines{"2: the last line does not end and is ignored; if it was "
                  "written by hand, end it with a newline"});
  EXPECT_EQ(rewritten(text), "Gemm,nn_1,Default,0.5\n"
                             "# incomplete: Gemm,nn_2,Gemm_A_tile_1\n");
}

TEST(ResultsCsv, AFileCutAnywhereIsReadUpToThere) {
  const std::string text = kPlain;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    const CsvDocument document = parse_results(cut);
    const auto whole =
        static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n'));
    EXPECT_EQ(document.validators.entries().size() + document.rows.size(),
              whole);
    EXPECT_EQ(document.torn, !cut.empty() && cut.back() != '\n');
  }
}

TEST(ResultsCsv, TheLastOfDuplicatesWins) {
  const std::string text = "# first\n"
                           "Gemm,nn_1,Gemm_A,1\n"
                           "Gemm,nn_2,Default\n"
                           "# second\n"
                           "Gemm,nn_1,Gemm_B,2\n";
  const CsvDocument document = parse_results(text);
  ASSERT_EQ(document.rows.size(), 2U);
  EXPECT_EQ(document.rows[0].solution, "Gemm_B");
  EXPECT_EQ(document.rows[0].line, 5U);
  EXPECT_EQ(rewritten(text),
            "# first\n# second\nGemm,nn_1,Gemm_B,2\nGemm,nn_2,Default\n");
}

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// German and French programs write 0,5; files never do.
TEST(ResultsCsv, KnowsNoLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale(), new CommaPoint));
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) {
      break;  // where the system has one
    }
  }
  EXPECT_EQ(format_milliseconds(1234.5), "1234.5");
  EXPECT_EQ(format_decimal(1234.5, 4), "1234.5");
  EXPECT_EQ(parse_results("Gemm,nn_1,Default,0.5\n").rows[0].time_ms(), 0.5);
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace tunedops
