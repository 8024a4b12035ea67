// Numbers that are read of a config which may be anything: none of them is
// beyond what a kernel can compute with.

#include "tuning/config_number.h"

#include <limits>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

TEST(ConfigNumber, IsTheOneAtAPlaceOfAParameter) {
  const Config config = Config().with("tile", {128, 64}).with("stages", 4);
  EXPECT_EQ(config_number(config, "tile"), 128);
  EXPECT_EQ(config_number(config, "tile", 1), 64);
  EXPECT_EQ(config_number(config, "stages"), 4);
}

TEST(ConfigNumber, OfWhatIsMissingIsZero) {
  const Config config = Config().with("tile", {128, 64});
  EXPECT_EQ(config_number(config, "tile", 2), 0);
  EXPECT_EQ(config_number(config, "stages"), 0);
  EXPECT_EQ(config_number(Config(), "tile"), 0);
}

TEST(ConfigNumber, IsBounded) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Config config =
      Config().with("x", {1024, 1025, Limits::max(), -1, Limits::min()});
  const int expected[] = {1024, 1024, 1024, 0, 0};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(config_number(config, "x", i), expected[i]) << i;
  }
}

}  // namespace
}  // namespace tunedops
