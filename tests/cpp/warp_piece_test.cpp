// Where the results of a warp of Gemm_Sm90 go on their way to the output: the
// way is walked here with the instruction for matrices of 8 x 8 played by hand,
// and each result has to arrive at its place in its line.

#include "kernels/gemm/cuda/warp_piece.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

constexpr int kLanes = 32;

// What the result of a row and column is here.
int result(int row, int column) { return 100 * row + column; }

// Of shared memory, by elements of 2 bytes.
std::vector<int> store_all(bool is_turned) {
  std::vector<int> memory(kWarpPieceBytes / 2, -1);
  for (int time = 0; time < 4; ++time) {
    for (int number = 0; number < 4; ++number) {
      const WarpMatrix matrix = warp_matrix(time, number);
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 2; ++i) {  // two neighbours of a row
          const int row = lane / 4;
          const int column = lane % 4 * 2 + i;
          // The lane that says where this row goes, or this column.
          const int target = warp_piece_target(
              8 * number + (is_turned ? column : row), time, is_turned);
          EXPECT_EQ(target % 16, 0);
          int& place = memory.at(static_cast<std::size_t>(
              target / 2 + (is_turned ? row : column)));
          EXPECT_EQ(place, -1) << "written twice";
          place = result(8 * matrix.half + row, 8 * matrix.eighth + column);
        }
      }
    }
  }
  return memory;
}

TEST(WarpPiece, EachResultArrivesAtItsPlace) {
  for (const bool is_turned : {false, true}) {
    const std::vector<int> memory = store_all(is_turned);
    const int lines = is_turned ? kWarpPieceColumns : kWarpPieceRows;
    const int length = is_turned ? kWarpPieceRows : kWarpPieceColumns;
    std::vector<int> arrived(static_cast<std::size_t>(lines * length), 0);
    for (int time = 0; time < 4; ++time) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const WarpChunk chunk = warp_piece_chunk(lane, time, is_turned);
        ASSERT_EQ(chunk.byte % 16, 0);
        for (int i = 0; i < 8; ++i) {
          const int at = chunk.at + i;
          const int expected =
              is_turned ? result(at, chunk.line) : result(chunk.line, at);
          EXPECT_EQ(memory.at(static_cast<std::size_t>(chunk.byte / 2 + i)),
                    expected);
          ++arrived.at(static_cast<std::size_t>(chunk.line * length + at));
        }
      }
    }
    for (const int times : arrived) {
      EXPECT_EQ(times, 1);
    }
  }
}

// Eight threads store or load 16 bytes each at a time: from different banks,
// where lines are rows.
TEST(WarpPiece, ThreadsMeetDifferentBanks) {
  const auto are_different = [](auto byte_of) {
    std::array<int, 8> times{};
    for (int lane = 0; lane < 8; ++lane) {
      ++times.at(static_cast<std::size_t>(byte_of(lane) / 16 % 8));
    }
    for (const int count : times) {
      EXPECT_EQ(count, 1);
    }
  };
  for (int time = 0; time < 4; ++time) {
    for (int first = 0; first < kLanes; first += 8) {
      are_different([&](int lane) {
        return warp_piece_target(first + lane, time, false);
      });
      are_different([&](int lane) {
        return warp_piece_chunk(first + lane, time, false).byte;
      });
    }
  }
}

}  // namespace
}  // namespace tunedops::cuda
