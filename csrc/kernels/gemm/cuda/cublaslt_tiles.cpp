#include "kernels/gemm/cuda/cublaslt_tiles.h"

#include <algorithm>
#include <vector>

namespace tunedops::cuda {
namespace {

// Those that came first have no order. From 36 on they do: m in steps of 8 with
// n in steps of 64, then the other way round, each without what was there.
constexpr TileSize kFirst[] = {
    {0, 0},     {8, 8},     {8, 16},    {16, 8},   {8, 32},   {16, 16},
    {32, 8},    {8, 64},    {16, 32},   {32, 16},  {64, 8},   {32, 32},
    {32, 64},   {64, 32},   {32, 128},  {64, 64},  {128, 32}, {64, 128},
    {128, 64},  {64, 256},  {128, 128}, {256, 64}, {64, 512}, {128, 256},
    {256, 128}, {512, 64},  {64, 96},   {96, 64},  {96, 128}, {128, 160},
    {160, 128}, {192, 128}, {128, 192}, {128, 96}, {32, 256}, {256, 32},
};
constexpr TileSize kLast[] = {{256, 512}, {256, 1024}, {512, 512}, {512, 1024}};

constexpr int kLongest = 768;

void add_grid(std::vector<TileSize>& tiles, int step_m, int step_n,
              int most_elements) {
  const std::vector<TileSize> before = tiles;
  for (int m = step_m; m <= kLongest; m += step_m) {
    for (int n = step_n; n <= kLongest && m * n <= most_elements; n += step_n) {
      const bool is_there =
          std::any_of(before.begin(), before.end(), [&](const TileSize& tile) {
            return tile.m == m && tile.n == n;
          });
      if (!is_there) {
        tiles.push_back({m, n});
      }
    }
  }
}

std::vector<TileSize> make_tiles() {
  std::vector<TileSize> tiles(std::begin(kFirst), std::end(kFirst));
  add_grid(tiles, 8, 64, 64 * 768);
  add_grid(tiles, 64, 8, 64 * 1024);
  tiles.insert(tiles.end(), std::begin(kLast), std::end(kLast));
  return tiles;
}

constexpr TileSize kClusters[kClusterEnd] = {
    {0, 0}, {0, 0}, {1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2},  {4, 2}, {1, 4},
    {2, 4}, {4, 4}, {8, 1}, {1, 8}, {8, 2}, {2, 8}, {16, 1}, {1, 16}};

}  // namespace

TileSize tile_size(std::uint32_t tile) {
  static const std::vector<TileSize> tiles = make_tiles();
  return tile < tiles.size() ? tiles[tile] : TileSize{};
}

TileSize cluster_size(std::uint32_t cluster) {
  return cluster < kClusterEnd ? kClusters[cluster] : TileSize{};
}

}  // namespace tunedops::cuda
