// Streams go through each step of each tile once, and all that have a part of a
// tile agree on who they are and where their sums lie.

#include "kernels/gemm/cuda/tile_streams.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

struct Part {
  TileWork work;
  TileSplits splits;
};

// By tile, in the order of the streams.
std::vector<std::vector<Part>> all_parts(const TileSchedule& schedule,
                                         const TileStreams& x) {
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(x.tiles));
  for (int stream = 0; stream < x.count; ++stream) {
    const int end = first_step_of(x, stream + 1);
    int step = first_step_of(x, stream);
    EXPECT_LT(step, end) << "none is empty";
    while (step < end) {
      const TileWork work = part_at(schedule, x, step, end);
      parts.at(static_cast<std::size_t>(work.place))
          .push_back({work, splits_of(schedule, x, work.place, stream)});
      step += work.k_end - work.k_begin;
    }
  }
  return parts;
}

void expect_sound(int tiles, int k_steps, int count) {
  const TileSchedule schedule({.column_tiles = tiles, .k_steps = k_steps});
  const TileStreams x(schedule, count);
  EXPECT_EQ((tiles - x.tiles) % count, 0) << "the rest is whole rounds";
  std::set<int> places;
  int cut = 0;
  for (const std::vector<Part>& parts : all_parts(schedule, x)) {
    int at = 0;
    for (const Part& part : parts) {
      EXPECT_EQ(part.work.k_begin, at);
      EXPECT_EQ(part.splits.own, &part - parts.data());
      EXPECT_EQ(part.splits.count, static_cast<int>(parts.size()));
      EXPECT_EQ(is_split(schedule, part.work), parts.size() > 1);
      at = part.work.k_end;
      if (parts.size() > 1) {
        const int place = part.splits.place(part.splits.own);
        EXPECT_TRUE(place >= 0 && place < 2 * count);
        EXPECT_TRUE(places.insert(place).second) << "nobody else's";
        EXPECT_EQ(place, parts[0].splits.place(part.splits.own))
            << "as all of them see it";
        ++cut;
      }
    }
    EXPECT_EQ(at, k_steps);
  }
  EXPECT_EQ(static_cast<int>(places.size()), cut);
}

TEST(TileStreams, GoThroughEachStepOnceAndMeetWhereTilesAreCut) {
  for (const int count : {1, 2, 3, 16, 66, 132}) {
    for (const int tiles : {1, 2, 5, 63, 100, 131, 133, 200, 500}) {
      for (const int k_steps : {1, 2, 7, 16, 257}) {
        if (std::min(tiles, count + tiles % count) * k_steps >= count) {
          expect_sound(tiles, k_steps, count);
        }
      }
    }
  }
}

TEST(TileStreams, AreOneRoundAtLeastWhereThereAreEnoughTiles) {
  EXPECT_EQ(streamed_tiles(100, 132), 100);
  EXPECT_EQ(streamed_tiles(133, 132), 133);
  EXPECT_EQ(streamed_tiles(1000, 132), 132 + 1000 % 132);
}

TEST(TileStreams, AreOfOneLengthButForAStep) {
  const TileStreams x(TileSchedule({.column_tiles = 140, .k_steps = 10}), 132);
  EXPECT_EQ(x.tiles, 140);
  EXPECT_EQ(first_step_of(x, 1) - first_step_of(x, 0), 11);
  EXPECT_EQ(first_step_of(x, 132) - first_step_of(x, 131), 10);
  EXPECT_EQ(first_step_of(x, 132), 1400);
}

}  // namespace
}  // namespace tunedops::cuda
