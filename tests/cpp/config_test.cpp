// A config is text in files that people and enemies edit: what is written must
// be read back, and nothing else may be read at all.

#include "tuning/config.h"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

TEST(Config, WritesNamesAndValuesInOrder) {
  const Config config =
      Config().with("tile", {128, 256, 64}).with("stages", 4).with("k", -1);
  EXPECT_EQ(config.to_text(), "_tile_128x256x64_stages_4_k_-1");
  EXPECT_EQ(config.values("tile"), (std::vector<std::int64_t>{128, 256, 64}));
  EXPECT_EQ(config.at("tile"), 128);
  EXPECT_EQ(config.at("stages"), 4);
  EXPECT_EQ(config.at("k"), -1);
}

TEST(Config, IsEmptyWithoutParameters) {
  EXPECT_TRUE(Config().empty());
  EXPECT_EQ(Config().to_text(), "");
  EXPECT_EQ(Config::from_text(""), Config());
  EXPECT_FALSE(Config().with("a", 1).empty());
}

TEST(Config, WithLeavesTheOriginalAlone) {
  const Config shorter = Config().with("a", 1);
  const Config longer = shorter.with("b", 2);
  EXPECT_EQ(shorter.to_text(), "_a_1");
  EXPECT_EQ(longer.to_text(), "_a_1_b_2");
  EXPECT_NE(shorter, longer);
}

TEST(Config, OrderOfParametersCounts) {
  EXPECT_NE(Config().with("a", 1).with("b", 2),
            Config().with("b", 2).with("a", 1));
}

TEST(Config, NamesTheParameterThatIsAbsent) {
  try {
    (void)Config().with("tile", 64).at("stages");
    FAIL() << "at() found a parameter that is not there";
  } catch (const std::out_of_range& error) {
    EXPECT_EQ(std::string(error.what()),
              "Config: no parameter 'stages' in '_tile_64'");
  }
}

TEST(Config, RefusesNamesThatCouldNotBeReadBack) {
  for (const char* name : {"", "Tile", "tile_m", "t1", "a b", "a,b", "ä"}) {
    EXPECT_THROW((void)Config().with(name, 1), std::invalid_argument) << name;
  }
  EXPECT_THROW((void)Config().with("a", std::vector<std::int64_t>{}),
               std::invalid_argument);
}

TEST(Config, ReadsBackWhatItWrites) {
  std::mt19937_64 engine(3);
  const auto up_to = [&engine](std::uint64_t most) {
    return engine() % (most + 1);
  };
  for (int round = 0; round < 2000; ++round) {
    Config config;
    // At most 3 parameters of 3 values, so that all stay within the limits.
    for (std::uint64_t i = up_to(3); i > 0; --i) {
      std::string name(1 + up_to(6), 'a');
      for (char& letter : name) {
        letter = static_cast<char>('a' + up_to(25));
      }
      std::vector<std::int64_t> values(1 + up_to(2));
      for (std::int64_t& value : values) {
        value = static_cast<std::int64_t>(engine()) >> up_to(63);
      }
      config = config.with(name, values);
    }
    ASSERT_EQ(Config::from_text(config.to_text()), config) << config.to_text();
  }
}

TEST(Config, ReadsNothingButWhatItWrites) {
  for (const char* text : {
           "tile_1",                     // no underscore in front
           "_",                          // nothing behind it
           "_tile",                      // no value
           "_tile_",                     // an empty one
           "_tile_1_",                   // an empty parameter
           "__1",                        // no name
           "_tile_x",                    // only a separator
           "_tile_1x",                   // ends with it
           "_tile_x1",                   // begins with it
           "_tile_1xx2",                 // holds two
           "_tile_007",                  // not as it would be written
           "_tile_-0",                   //
           "_tile_+1",                   //
           "_tile_1.5",                  // not integers
           "_tile_1e3",                  //
           "_tile_9223372036854775808",  // past 64 bits
           "_Tile_1",                    // no such name
           "_ti le_1",                   //
           "_tile_ 1",                   //
           "_tile_1 ",                   //
           "_tile_1,stages_2",           //
           "_tile_1\n",                  //
       }) {
    EXPECT_EQ(Config::from_text(text), std::nullopt) << text;
  }
}

TEST(Config, AnXSeparatesValuesAndIsNoHexadecimalPrefix) {
  EXPECT_EQ(Config::from_text("_tile_0x10"), Config().with("tile", {0, 10}));
}

TEST(Config, HostileTextIsBounded) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
      all += text;
    }
    return all;
  };
  EXPECT_TRUE(Config::from_text(repeated("_a_1", 16)).has_value());
  EXPECT_EQ(Config::from_text(repeated("_a_1", 17)), std::nullopt);
  EXPECT_TRUE(Config::from_text("_a_1" + repeated("x1", 7)).has_value());
  EXPECT_EQ(Config::from_text("_a_1" + repeated("x1", 8)), std::nullopt);
  EXPECT_EQ(Config::from_text('_' + std::string(300, 'a') + "_1"),
            std::nullopt);
  EXPECT_EQ(Config::from_text(std::string("_a_1\0", 5)), std::nullopt);
}

}  // namespace
}  // namespace tunedops
