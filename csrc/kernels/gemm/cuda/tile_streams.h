#pragma once

// Stream-K: where tiles do not go into the blocks of a GPU evenly, their steps
// along k do. Each block has a stretch of as many steps as any other, a stream,
// across the ends of tiles; a tile that streams meet in is added up by
// whichever comes last. Only tiles of the last, incomplete round and of the one
// before are cut: the others are whole, and each block has as many of them. Of
// no GPU in particular, and so tested without one.

#include "kernels/gemm/cuda/divisor.h"
#include "kernels/gemm/cuda/tile_schedule.h"

namespace tunedops::cuda {

/// Those left over from whole rounds, and one round more, so that a stream is
/// at least as long as a tile where there are enough.
constexpr int streamed_tiles(int tiles, int streams) {
  return tiles < streams ? tiles : streams + tiles % streams;
}

struct TileStreams {
  constexpr TileStreams() = default;
  constexpr TileStreams(const TileSchedule& schedule, int streams)
      : count(streams), tiles(streamed_tiles(works_of(schedule), streams)),
        steps_each(tiles * schedule.k_steps / streams),
        steps_more(tiles * schedule.k_steps % streams),
        by_tile(schedule.k_steps), by_longer(steps_each + 1),
        by_each(steps_each) {}

  int count = 0;
  int tiles = 0;       // the first of all, which streams go through
  int steps_each = 1;  // of a stream, and how many have one more
  int steps_more = 0;
  Divisor by_tile;
  Divisor by_longer;
  Divisor by_each;
};

/// Of all steps of all tiles that streams go through.
constexpr int first_step_of(const TileStreams& x, int stream) {
  return stream * x.steps_each +
         (stream < x.steps_more ? stream : x.steps_more);
}

/// Which has that step.
constexpr int stream_of(const TileStreams& x, int step) {
  return step < x.steps_more * (x.steps_each + 1)
             ? x.by_longer.divide(step)
             : x.by_each.divide(step - x.steps_more);
}

/// What a stream, which ends at `end`, has from `step` on of one tile. Not yet
/// which tile it is.
constexpr TileWork part_at(const TileSchedule& schedule, const TileStreams& x,
                           int step, int end) {
  TileWork work{};
  work.place = x.by_tile.divide(step);
  const int first = work.place * schedule.k_steps;
  work.k_begin = step - first;
  work.k_end = end - first < schedule.k_steps ? end - first : schedule.k_steps;
  return work;
}

/// `tile`: of which `stream` has a part. A stream begins within one tile at
/// most, and ends within one: so each has two places. What streams begin with
/// is done long before what they end with, which is the first part of a tile.
constexpr TileSplits splits_of(const TileSchedule& schedule,
                               const TileStreams& x, int tile, int stream) {
  const int first = tile * schedule.k_steps;
  const int first_stream = stream_of(x, first);
  return {.own = stream - first_stream,
          .count =
              stream_of(x, first + schedule.k_steps - 1) - first_stream + 1,
          .first_place = first_stream + x.count,
          .next_place = first_stream + 1,
          .distance = 1,
          .first_comes_last = true};
}

}  // namespace tunedops::cuda
