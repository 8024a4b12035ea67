// The order of tiles and who writes what of a strip: each tile, split and step
// once, each column once.

#include "kernels/gemm/cuda/tile_schedule.h"

#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gemm/cuda/tile_strip.h"

namespace tunedops::cuda {
namespace {

TEST(TileSchedule, EverySplitOfEveryTileComesOnce) {
  for (const int row_tiles : {1, 2, 7, 8, 9, 16, 19}) {
    for (const int column_tiles : {1, 3, 8}) {
      for (const int tiles_down : {1, 4, 8}) {
        const TileSchedule x({.row_tiles = row_tiles,
                              .column_tiles = column_tiles,
                              .batch = 3,
                              .splits = 2,
                              .k_steps = 5,
                              .tiles_down = tiles_down});
        std::set<std::tuple<int, int, int, int>> seen;
        std::set<int> places;
        for (int number = 0; number < works_of(x); ++number) {
          const TileWork work = work_of(x, number);
          EXPECT_TRUE(work.row_tile >= 0 && work.row_tile < row_tiles);
          EXPECT_TRUE(work.column_tile >= 0 && work.column_tile < column_tiles);
          EXPECT_TRUE(work.batch >= 0 && work.batch < 3);
          EXPECT_EQ(work.place, number / 2) << "splits run side by side";
          seen.emplace(work.row_tile, work.column_tile, work.batch, work.split);
          places.insert(work.place);
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(works_of(x)));
        EXPECT_EQ(places.size(), static_cast<std::size_t>(works_of(x) / 2));
      }
    }
  }
}

TEST(TileSchedule, SplitsShareAllStepsAndNoneIsEmpty) {
  for (const int splits : {1, 2, 3, 7, 64}) {
    for (const int more : {0, 1, 5, 1000, 1 << 25}) {
      const TileSchedule x({.splits = splits, .k_steps = splits + more});
      int end = 0;
      for (int number = 0; number < splits; ++number) {
        const TileWork work = work_of(x, number);
        EXPECT_EQ(work.k_begin, end);
        EXPECT_GT(work.k_end, work.k_begin);
        end = work.k_end;
      }
      EXPECT_EQ(end, x.k_steps);
    }
  }
}

TEST(TileStrip, EveryColumnIsWrittenOnceAndPairsAreAligned) {
  for (const int columns : {32, 64}) {
    for (const int odd : {0, 1}) {
      std::vector<int> written(static_cast<std::size_t>(columns));
      for (int lane = 0; lane < columns / 2; ++lane) {
        const StripPair pair = strip_pair(lane, odd, columns);
        ++written.at(static_cast<std::size_t>(pair.one));
        ++written.at(static_cast<std::size_t>(pair.other));
        if (pair.one < pair.other) {
          EXPECT_EQ(pair.other, pair.one + 1);
          EXPECT_EQ((odd + pair.one) % 2, 0);
        } else {
          EXPECT_EQ(lane, columns / 2 - 1) << "only the last lane's is none";
        }
      }
      EXPECT_EQ(written, std::vector<int>(written.size(), 1));
    }
  }
}

}  // namespace
}  // namespace tunedops::cuda
