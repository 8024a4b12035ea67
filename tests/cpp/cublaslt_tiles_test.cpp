// The sizes behind cuBLASLt's numbers, against the names in its header.

#include "kernels/gemm/cuda/cublaslt_tiles.h"

#include <limits>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

using Size = std::pair<int, int>;

Size tile(std::uint32_t number) {
  const TileSize size = tile_size(number);
  return {size.m, size.n};
}

Size cluster(std::uint32_t number) {
  const TileSize size = cluster_size(number);
  return {size.m, size.n};
}

constexpr std::uint32_t kLastTile = 634;
constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

TEST(CublasltTiles, SizesAreThoseOfTheNames) {
  EXPECT_EQ(tile(1), Size(8, 8));
  EXPECT_EQ(tile(20), Size(128, 128));
  EXPECT_EQ(tile(33), Size(128, 96));
  EXPECT_EQ(tile(35), Size(256, 32));
  EXPECT_EQ(tile(36), Size(8, 128));
  EXPECT_EQ(tile(312), Size(64, 16));
  EXPECT_EQ(tile(393), Size(128, 8));
  EXPECT_EQ(tile(611), Size(640, 96));
  EXPECT_EQ(tile(631), Size(256, 512));
  EXPECT_EQ(tile(634), Size(512, 1024));
}

TEST(CublasltTiles, OtherNumbersAreUnknown) {
  for (const std::uint32_t number : {0U, kLastTile + 1, 0x7fffffffU, kMost}) {
    EXPECT_EQ(tile(number), Size(0, 0)) << number;
  }
}

TEST(CublasltTiles, NoTwoTilesAreTheSame) {
  std::set<Size> sizes;
  for (std::uint32_t number = 1; number <= kLastTile; ++number) {
    const Size size = tile(number);
    EXPECT_TRUE(sizes.insert(size).second) << number;
    EXPECT_GT(size.first, 0) << number;
    EXPECT_EQ(size.first % 8, 0) << number;
    EXPECT_GT(size.second, 0) << number;
    EXPECT_EQ(size.second % 8, 0) << number;
  }
  EXPECT_EQ(sizes.size(), kLastTile);
}

// All of them were compared with the header's names; this sum is theirs.
TEST(CublasltTiles, NoneHasMoved) {
  std::int64_t sum = 0;
  for (std::uint32_t number = 1; number <= kLastTile; ++number) {
    const auto [m, n] = tile(number);
    sum += std::int64_t{number} * (1000 * m + n);
  }
  EXPECT_EQ(sum, 60573553016);
}

TEST(CublasltTiles, ClustersAreThoseOfTheNames) {
  EXPECT_EQ(cluster(2), Size(1, 1));
  EXPECT_EQ(cluster(3), Size(2, 1));
  EXPECT_EQ(cluster(4), Size(4, 1));
  EXPECT_EQ(cluster(5), Size(1, 2));
  EXPECT_EQ(cluster(6), Size(2, 2));
  EXPECT_EQ(cluster(7), Size(4, 2));
  EXPECT_EQ(cluster(8), Size(1, 4));
  EXPECT_EQ(cluster(9), Size(2, 4));
  EXPECT_EQ(cluster(10), Size(4, 4));
  EXPECT_EQ(cluster(11), Size(8, 1));
  EXPECT_EQ(cluster(12), Size(1, 8));
  EXPECT_EQ(cluster(13), Size(8, 2));
  EXPECT_EQ(cluster(14), Size(2, 8));
  EXPECT_EQ(cluster(15), Size(16, 1));
  EXPECT_EQ(cluster(16), Size(1, 16));
}

TEST(CublasltTiles, OtherClustersAreUnknown) {
  for (const std::uint32_t number : {0U, 1U, kClusterEnd, kMost}) {
    EXPECT_EQ(cluster(number), Size(0, 0)) << number;
  }
}

}  // namespace
}  // namespace tunedops::cuda
