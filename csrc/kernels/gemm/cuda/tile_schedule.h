#pragma once

// The order in which the tiles of an output are computed: the splits of a tile
// first, which run side by side; then a few tiles down and all across, so that
// the operands of those that run at one time are few enough for the cache. Of
// no GPU in particular, and so tested without one.

#include "kernels/gemm/cuda/divisor.h"

namespace tunedops::cuda {

/// Numbers of splits that differ enough to be worth a try.
inline constexpr int kSplitCounts[] = {2,  3,  4,  5,  6,  7,  8, 10,
                                       12, 16, 20, 24, 32, 48, 64};

/// Tiles that are computed before those of the next column.
inline constexpr int kTilesDown = 8;

struct TileCounts {
  int row_tiles = 1;
  int column_tiles = 1;
  int batch = 1;
  int splits = 1;   // of k
  int k_steps = 1;  // of all splits
  int tiles_down = kTilesDown;
};

/// With what it takes to find a tile by its number.
struct TileSchedule : TileCounts {
  constexpr TileSchedule() = default;
  explicit constexpr TileSchedule(const TileCounts& counts)
      : TileCounts(counts), last_rows((row_tiles - 1) % tiles_down + 1),
        by_splits(splits), by_matrix(row_tiles * column_tiles),
        by_group(tiles_down * column_tiles), by_rows(tiles_down),
        by_last_rows(last_rows), steps_each(k_steps / splits),
        steps_more(k_steps % splits) {}

  int last_rows = 1;  // of tiles, in the last group of so many down
  Divisor by_splits;
  Divisor by_matrix;
  Divisor by_group;
  Divisor by_rows;
  Divisor by_last_rows;
  int steps_each = 1;  // of a split, and how many have one more
  int steps_more = 0;
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

/// Those of one tile, and where each has its sums: place(split), in tiles.
struct TileSplits {
  int own;
  int count;
  int first_place;
  int next_place;  // of the one after the first
  int distance;
  bool first_comes_last;  // as a rule

  constexpr int place(int split) const {
    return split == 0 ? first_place : next_place + (split - 1) * distance;
  }
};

/// Where the splits of a tile meet.
struct SplitMeeting {
  float* partial;      // sums, in workspace
  unsigned* counters;  // of arrivals at a tile, zero before and after
};

constexpr int works_of(const TileCounts& x) {
  return x.row_tiles * x.column_tiles * x.splits * x.batch;
}

constexpr int first_step_of(const TileSchedule& x, int split) {
  return split * x.steps_each + (split < x.steps_more ? split : x.steps_more);
}

/// Which tile is at the work's place.
constexpr void find_tile(const TileSchedule& x, TileWork& work) {
  work.batch = x.by_matrix.divide(work.place);
  const int tile = work.place - work.batch * x.row_tiles * x.column_tiles;
  const int group = x.by_group.divide(tile);
  const int in_group = tile - group * x.tiles_down * x.column_tiles;
  const int first_row = group * x.tiles_down;
  const bool is_last = first_row + x.tiles_down > x.row_tiles;
  const int rows = is_last ? x.last_rows : x.tiles_down;
  work.column_tile = (is_last ? x.by_last_rows : x.by_rows).divide(in_group);
  work.row_tile = first_row + in_group - work.column_tile * rows;
}

/// `number` counts all works. Not yet which tile it is.
constexpr TileWork split_at(const TileSchedule& x, int number) {
  TileWork work{};
  work.place = x.by_splits.divide(number);
  work.split = number - work.place * x.splits;
  work.k_begin = first_step_of(x, work.split);
  work.k_end = first_step_of(x, work.split + 1);
  return work;
}

constexpr TileWork work_of(const TileSchedule& x, int number) {
  TileWork work = split_at(x, number);
  find_tile(x, work);
  return work;
}

constexpr bool is_split(const TileSchedule& x, const TileWork& work) {
  return work.k_end - work.k_begin < x.k_steps;
}

constexpr TileSplits splits_of(const TileSchedule& x, const TileWork& work) {
  const int first = work.place * x.splits;
  return {.own = work.split,
          .count = x.splits,
          .first_place = first,
          .next_place = first + 1,
          .distance = 1,
          .first_comes_last = false};
}

}  // namespace tunedops::cuda
