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

// Of shared memory, by elements of 2 bytes. `target(lane, time)`: where a lane
// says that its row of a matrix goes; its column, if that is transposed.
template <class Target>
void store_all(std::vector<int>& memory, int first_row, bool transposes,
               const Target& target) {
  for (int time = 0; time < 4; ++time) {
    for (int number = 0; number < 4; ++number) {
      const WarpMatrix matrix = warp_matrix(time, number);
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 2; ++i) {  // two neighbours of a row
          const int row = lane / 4;
          const int column = lane % 4 * 2 + i;
          const int byte =
              target(8 * number + (transposes ? column : row), time);
          EXPECT_EQ(byte % 16, 0);
          int& place = memory.at(
              static_cast<std::size_t>(byte / 2 + (transposes ? row : column)));
          EXPECT_EQ(place, -1) << "written twice";
          place = result(first_row + 8 * matrix.half + row,
                         8 * matrix.eighth + column);
        }
      }
    }
  }
}

TEST(WarpPiece, EachResultArrivesInItsLine) {
  std::vector<int> memory(kWarpPieceBytes / 2, -1);
  store_all(memory, 0, false,
            [](int lane, int time) { return warp_piece_target(lane, time); });
  for (int row = 0; row < kWarpPieceRows; ++row) {
    for (int column = 0; column < kWarpPieceColumns; ++column) {
      EXPECT_EQ(memory.at(static_cast<std::size_t>(row * kWarpPiecePitch / 2 +
                                                   column)),
                result(row, column));
    }
  }
}

// The copy engine takes 16 bytes from where the address says, with the three
// bits above those of a chunk turned over where the bits of the line are set.
TEST(OutputBox, EachResultIsWhereTheCopyEngineTakesItFrom) {
  constexpr int kSide = 64;
  for (const bool is_turned : {false, true}) {
    std::vector<int> memory(kSide * kSide, -1);
    for (int warp = 0; warp < 4; ++warp) {
      store_all(memory, kWarpPieceRows * warp, is_turned,
                [&](int lane, int time) {
                  return output_box_target(warp, lane, time, is_turned);
                });
    }
    for (int line = 0; line < kSide; ++line) {
      for (int at = 0; at < kSide; ++at) {
        const int byte = line * 128 + 2 * at;
        const int swizzled = byte ^ ((byte >> 7 & 7) << 4);
        EXPECT_EQ(memory.at(static_cast<std::size_t>(swizzled / 2)),
                  is_turned ? result(at, line) : result(line, at));
      }
    }
  }
}

TEST(WarpPiece, ThreadsMeetDifferentBanks) {
  // Eight threads store 16 bytes each at a time.
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
      are_different(
          [&](int lane) { return warp_piece_target(first + lane, time); });
      for (const bool is_turned : {false, true}) {
        are_different([&](int lane) {
          return output_box_target(3, first + lane, time, is_turned);
        });
      }
    }
  }
}

}  // namespace
}  // namespace tunedops::cuda
