// What is text and what is only bytes: by the table of the Unicode standard,
// with its traps (overlong forms, surrogates, cut characters).

#include "tuning/utf8.h"

#include <gtest/gtest.h>

namespace tunedops {
namespace {

TEST(Utf8, KnowsCharactersOfEveryLength) {
  for (const char* text :
       {"", "plain", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "stra\xc3\x9f"
        "e 9"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(with_bytes_escaped(text), text);
  }
}

TEST(Utf8, KnowsWhatIsNone) {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf",
        "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe", "\xff",
        "good\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << with_bytes_escaped(text);
    EXPECT_TRUE(is_utf8(with_bytes_escaped(text)));
  }
}

TEST(Utf8, WritesOutBytesAndNothingElse) {
  EXPECT_EQ(with_bytes_escaped("a\xff\xc3\xa4\xc3"), "a\\xff\xc3\xa4\\xc3");
  EXPECT_EQ(with_bytes_escaped("\xe2\x82"), "\\xe2\\x82");
}

}  // namespace
}  // namespace tunedops
