// The fields of a row behind its solution. A file may hold anything there:
// whatever is not exactly a value of a field is none.

#include "tuning/row_fields.h"

#include <gtest/gtest.h>

namespace tunedops {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year;

TEST(RowFields, AWordIsShortAndPlain) {
  for (const char* good : {"clock", "events", "graphs", "a", "CUPTI_2-x"}) {
    EXPECT_EQ(parse_word(good), good);
  }
  EXPECT_EQ(parse_word(std::string(32, 'x')), std::string(32, 'x'));
  for (const char* bad : {"", "two words", "[red]", "\xc3\xa4", "a.b", "0,5"}) {
    EXPECT_EQ(parse_word(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_word(std::string(33, 'x')), std::nullopt);
}

TEST(RowFields, ACountIsAPositiveNumberThatFits) {
  EXPECT_EQ(parse_count("1"), 1);
  EXPECT_EQ(parse_count("100"), 100);
  EXPECT_EQ(parse_count("999999999"), 999'999'999);
  for (const char* bad : {"", "0", "-1", "+1", "1.0", "1e2", "many", "12 ",
                          "0x10", "1000000000", "99999999999999999999"}) {
    EXPECT_EQ(parse_count(bad), std::nullopt) << bad;
  }
}

TEST(RowFields, AShareMayBeNothingAndIsNotNegative) {
  EXPECT_EQ(parse_share("0"), 0);
  EXPECT_EQ(parse_share("0.0042"), 0.0042);
  EXPECT_EQ(parse_share("1.5"), 1.5);
  EXPECT_EQ(parse_share("4e-3"), 0.004);
  for (const char* bad : {"", "-0", "-0.1", "+0.1", "inf", "nan", "1e999",
                          "0.4%", "0x1", "half"}) {
    EXPECT_EQ(parse_share(bad), std::nullopt) << bad;
  }
}

TEST(RowFields, ADayIsOneOfTheCalendar) {
  for (const char* good : {"2026-11-30", "2028-02-29", "1970-01-01"}) {
    EXPECT_EQ(parse_day(good), good);
  }
  for (const char* bad :
       {"", "2026-11-31", "2027-02-29", "2026-13-01", "2026-00-01",
        "2026-01-00", "2026-1-1", "26-11-30", "2026/11/30", "20261130",
        "2026-11-30 ", "0000-01-01", "2026-11-3x", "-026-11-30", "2026-11-300",
        "yesterday!", "today"}) {
    EXPECT_EQ(parse_day(bad), std::nullopt) << bad;
  }
}

TEST(RowFields, MillisecondsAreShortAndHaveAPoint) {
  EXPECT_EQ(format_milliseconds(0.0129512345), "0.012951");
  EXPECT_EQ(format_milliseconds(1.0), "1");
  EXPECT_EQ(format_milliseconds(123456.0), "1.2346e+05");
  EXPECT_EQ(format_milliseconds(1e-7), "1e-07");
}

TEST(RowFields, DecimalsHaveNoExponentAndNoZerosBehind) {
  EXPECT_EQ(format_decimal(0.0042, 4), "0.0042");
  EXPECT_EQ(format_decimal(0.02, 4), "0.02");
  EXPECT_EQ(format_decimal(0.00421234, 4), "0.0042");
  EXPECT_EQ(format_decimal(0.00001, 4), "0");
  EXPECT_EQ(format_decimal(0, 4), "0");
  EXPECT_EQ(format_decimal(1, 2), "1");
  EXPECT_EQ(format_decimal(100, 2), "100");
  EXPECT_EQ(format_decimal(100, 0), "100");
  EXPECT_EQ(format_decimal(12.345, 1), "12.3");
  EXPECT_EQ(format_decimal(1e300, 2), "0") << "too long for a field";
}

TEST(RowFields, WhatIsWrittenIsReadAgain) {
  const Timing timing{.stopwatch = "events",
                      .samples = 87,
                      .spread = 0.00418,
                      .margin = 0.02,
                      .date = "2026-11-30"};
  const std::vector<std::string> fields = timed_fields(0.25, 0.5, timing);
  EXPECT_EQ(fields, (std::vector<std::string>{"0.25", "0.5", "events", "87",
                                              "0.0042", "0.02", "2026-11-30"}));
  EXPECT_EQ(parse_word(fields[2]), timing.stopwatch);
  EXPECT_EQ(parse_count(fields[3]), timing.samples);
  EXPECT_NEAR(*parse_share(fields[4]), timing.spread, 0.00005);
  EXPECT_EQ(parse_share(fields[5]), timing.margin);
  EXPECT_EQ(parse_day(fields[6]), timing.date);
}

TEST(UtcDay, EndsAtMidnight) {
  const auto midnight = sys_days{year{2028} / 2 / 29};
  EXPECT_EQ(utc_day(midnight), "2028-02-29");
  EXPECT_EQ(utc_day(midnight - seconds(1)), "2028-02-28");
  EXPECT_EQ(utc_day(midnight + hours(24)), "2028-03-01");
  EXPECT_EQ(utc_day(sys_days{year{1969} / 12 / 31}), "1969-12-31");
  EXPECT_EQ(parse_day(utc_day(std::chrono::system_clock::now()))->size(), 10U);
}

}  // namespace
}  // namespace tunedops
