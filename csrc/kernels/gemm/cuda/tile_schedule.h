#pragma once

// The order in which the tiles of an output are computed: the splits of a tile
// first, which run side by side; then a few tiles down and all across, so that
// the operands of those that run at one time are few enough for the cache. Of
// no GPU in particular, and so tested without one.

#include <cstdint>

namespace tunedops::cuda {

/// Numbers of splits that differ enough to be worth a try.
inline constexpr int kSplitCounts[] = {2,  3,  4,  5,  6,  7,  8, 10,
                                       12, 16, 20, 24, 32, 48, 64};

struct TileSchedule {
  int row_tiles;
  int column_tiles;
  int batch;
  int splits;   // of k
  int k_steps;  // of all splits
};

/// One split of one tile.
struct TileWork {
  int row_tile;
  int column_tile;
  int split;
  int batch;
  int k_begin;  // in steps
  int k_end;
  int place;  // of the tile among all
};

/// Where the splits of a tile meet.
struct SplitMeeting {
  float* partial;      // sums, in workspace
  unsigned* counters;  // of arrivals at a tile, zero before and after
};

constexpr int works_of(const TileSchedule& x) {
  return x.row_tiles * x.column_tiles * x.splits * x.batch;
}

constexpr int first_step_of(const TileSchedule& x, int split) {
  return static_cast<int>(static_cast<std::int64_t>(x.k_steps) * split /
                          x.splits);
}

/// `number` counts all works, `tiles_down` is how many tiles lie below each
/// other before the next column's turn.
constexpr TileWork work_of(const TileSchedule& x, int number, int tiles_down) {
  TileWork work{};
  work.split = number % x.splits;
  work.place = number / x.splits;
  const int tiles = x.row_tiles * x.column_tiles;
  work.batch = work.place / tiles;
  const int tile = work.place % tiles;
  const int group = tiles_down * x.column_tiles;
  const int first_row = tile / group * tiles_down;
  const int rows = x.row_tiles - first_row < tiles_down
                       ? x.row_tiles - first_row
                       : tiles_down;
  work.row_tile = first_row + tile % group % rows;
  work.column_tile = tile % group / rows;
  work.k_begin = first_step_of(x, work.split);
  work.k_end = first_step_of(x, work.split + 1);
  return work;
}

}  // namespace tunedops::cuda
