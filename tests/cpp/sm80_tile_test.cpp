// Where Gemm_Sm80 has what in shared memory: every element is copied once, to
// where the matrix instruction takes it for its row and k; no lanes wait for
// each other's banks; and of lines that begin anywhere, nothing outside is
// read. A mistake here is a wrong product, which only a GPU would show.

#include "kernels/gemm/cuda/sm80_tile.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gemm/cuda/sm80_strip.h"

namespace tunedops::cuda {
namespace {

template <class Part>
class Sm80TileTest : public testing::Test {};

using Parts = testing::Types<Sm80Part<64, true>, Sm80Part<64, false>,
                             Sm80Part<128, true>, Sm80Part<128, false>>;
TYPED_TEST_SUITE(Sm80TileTest, Parts);

/// Of 16 bytes, eight of which are all banks.
int bank_group(int place) { return place / 16 % 8; }

TYPED_TEST(Sm80TileTest, EveryByteHasAPlaceOfItsOwn) {
  std::set<int> places;
  for (int line = 0; line < TypeParam::kLines; ++line) {
    EXPECT_EQ(TypeParam::line_in(TypeParam::slot_of(line)), line);
    for (int byte = 0; byte < TypeParam::kLineBytes; ++byte) {
      const int place = TypeParam::place(line, byte);
      EXPECT_TRUE(place >= 0 && place < TypeParam::kBytes);
      EXPECT_EQ(place % 16, byte % 16) << "chunks stay together";
      places.insert(place);
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(TypeParam::kBytes));
}

template <class Part, int kUnit>
void expect_copies_all() {
  using Units = Sm80Units<Part, kUnit>;
  std::set<int> places;
  for (int thread = 0; thread < kSm80Threads; ++thread) {
    const int byte = Units::byte(thread);
    const int first = Part::place(Units::line(thread), byte);
    for (int i = 0; i < Units::kCount; ++i) {
      const int line = Units::line(thread) + Units::line_step(i);
      ASSERT_LT(line, Part::kLines);
      EXPECT_EQ(Units::stepped(first, i), Part::place(line, byte));
      places.insert(Part::place(line, byte));
    }
  }
  EXPECT_EQ(places.size() * kUnit, static_cast<std::size_t>(Part::kBytes));
  EXPECT_EQ(Units::kCount * kUnit * kSm80Threads, Part::kBytes) << "each once";
  // Threads that write 128 bytes together meet all banks.
  constexpr int kTogether = 128 / kUnit;
  for (int begin = 0; begin < kSm80Threads; begin += kTogether) {
    std::set<int> banks;
    for (int thread = begin; thread < begin + kTogether; ++thread) {
      const int place = Part::place(Units::line(thread), Units::byte(thread));
      banks.insert(place / kUnit % kTogether);
    }
    EXPECT_EQ(banks.size(), static_cast<std::size_t>(kTogether));
  }
}

TYPED_TEST(Sm80TileTest, UnitsOfEverySizeCopyAll) {
  expect_copies_all<TypeParam, 16>();
  expect_copies_all<TypeParam, 8>();
  expect_copies_all<TypeParam, 4>();
}

// What the instruction wants of lane i of 16 rows and 16 ks: rows i / 4 and 8
// further, ks 2 * (i % 4) and next to it, and 8 further. Its registers are
// numbered rows first for its rows, and ks first for its columns.
template <class Part, bool kIsRows>
void expect_reads() {
  using Read = Sm80Read<Part, kIsRows>;
  const auto element_at = [](int row, int k) {
    return Part::kIsAlongK ? Part::place(row, 2 * k) : Part::place(k, 2 * row);
  };
  constexpr int kWarpRows = Part::kSide / 2;
  for (const int warp_row : {0, kWarpRows}) {
    for (int row = 0; row < kWarpRows; row += 16) {
      for (int slice = 0; slice < kSm80StageK / 16; ++slice) {
        const auto address = [&](int lane) {
          return Read::stepped(Read::stepped(Read::first(lane), warp_row, 0),
                               row, slice);
        };
        for (int lane = 0; lane < 32; ++lane) {
          for (int matrix = 0; matrix < 4; ++matrix) {
            const int row_half = kIsRows ? matrix % 2 : matrix / 2;
            const int k_half = kIsRows ? matrix / 2 : matrix % 2;
            for (const int in_row : {lane % 4 * 2, lane % 4 * 2 + 1}) {
              // Lanes hold two of a row of a matrix, or of a column.
              const int place =
                  Part::kIsAlongK
                      ? address(8 * matrix + lane / 4) + 2 * in_row
                      : address(8 * matrix + in_row) + 2 * (lane / 4);
              EXPECT_EQ(place,
                        element_at(warp_row + row + lane / 4 + 8 * row_half,
                                   16 * slice + in_row + 8 * k_half));
            }
          }
        }
        for (int begin = 0; begin < 32; begin += 8) {
          std::set<int> groups;
          for (int lane = begin; lane < begin + 8; ++lane) {
            EXPECT_EQ(address(lane) % 16, 0);
            groups.insert(bank_group(address(lane)));
          }
          EXPECT_EQ(groups.size(), 8U) << "lanes wait for each other";
        }
      }
    }
  }
}

TYPED_TEST(Sm80TileTest, WarpsReadWhatTheInstructionMultiplies) {
  expect_reads<TypeParam, true>();
  expect_reads<TypeParam, false>();
}

TYPED_TEST(Sm80TileTest, AWarpCopiesWordsOfEvenLinesOrOfOddOnes) {
  using Words = Sm80Units<TypeParam, 4>;
  for (int begin = 0; begin < kSm80Threads; begin += 32) {
    for (int thread = begin; thread < begin + 32; ++thread) {
      EXPECT_EQ(Words::line(thread) % 2, Words::line(begin) % 2);
    }
  }
  EXPECT_EQ(Words::line_step(1) % 2, 0) << "and so do its other units";
}

/// A line that begins anywhere, and the reads of it.
class Line {
 public:
  explicit Line(int length) : length_(length) {}
  int at(int element) const {
    EXPECT_TRUE(element >= 0 && element < length_) << "read outside of a line";
    return 1 + element;
  }

 private:
  int length_;
};

// As Sm80Copier does it: the words of a part of a line, and the last element.
std::vector<int> copy_by_words(const Line& line, int begin, int part,
                               int length, int odd) {
  constexpr int kNothing = -1;
  std::vector<int> to(static_cast<std::size_t>(part), kNothing);
  const auto put = [&](int element, int value) {
    to.at(static_cast<std::size_t>(element)) = value;
  };
  for (int element = 0; element < part; element += 2) {
    const Sm80Word word{begin + element - odd, length};
    int halves[2] = {0, 0};
    if (word.is_whole()) {
      halves[0] = line.at(word.at);
      halves[1] = line.at(word.at + 1);
    } else if (word.has_single()) {
      halves[word.single_shift() / 16] = line.at(word.single());
    }
    if (element >= odd) {
      put(element - odd, halves[0]);
    }
    put(element - odd + 1, halves[1]);
  }
  if (odd != 0) {
    const int last = begin + part - 1;
    put(part - 1, last < length ? line.at(last) : 0);
  }
  return to;
}

TEST(Sm80Word, LinesThatBeginAnywhereAreCopiedAndNothingElse) {
  for (const int part : {32, 64, 128}) {
    for (int length = 1; length <= 3 * part; ++length) {
      for (int begin = 0; begin < length + part; begin += part) {
        for (const int odd : {0, 1}) {
          std::vector<int> expected;
          for (int i = begin; i < begin + part; ++i) {
            expected.push_back(i < length ? 1 + i : 0);
          }
          ASSERT_EQ(copy_by_words(Line(length), begin, part, length, odd),
                    expected)
              << length << " from " << begin << (odd != 0 ? " odd" : "");
        }
      }
    }
  }
}

TEST(Sm80Bytes, NoMoreThanTheLineHasIsCopied) {
  EXPECT_EQ(bytes_to_copy(100, 16), 16);
  EXPECT_EQ(bytes_to_copy(8, 16), 16);
  EXPECT_EQ(bytes_to_copy(7, 16), 14);
  EXPECT_EQ(bytes_to_copy(1, 8), 2);
  EXPECT_EQ(bytes_to_copy(0, 16), 0);
  EXPECT_EQ(bytes_to_copy(-(1 << 30), 16), 0);
  EXPECT_EQ(bytes_to_copy(1 << 30, 4), 4);
}

// Strips lie where stages were.
TEST(Sm80Strip, StripsFitTheLeastStages) {
  for (const auto& [rows, columns] :
       {std::pair{64, 64}, std::pair{64, 128}, std::pair{128, 128}}) {
    const auto stages = 2 * sm80_stage_bytes(rows, columns);
    EXPECT_EQ(sm80_shared_bytes(rows, columns, 2), stages);
    EXPECT_LE(
        sizeof(float) * kSm80Warps *
            static_cast<std::size_t>(sm80_strip_floats(rows / 2, columns / 2)),
        stages);
  }
}

// Each row of a strip has two floats from a quarter of the lanes that write at
// one time, or a float from all of them.
TEST(Sm80Strip, LanesMeetDifferentBanks) {
  for (const int columns : {32, 64}) {
    for (int begin = 0; begin < 32; begin += 16) {
      std::set<int> banks;
      for (int lane = begin; lane < begin + 16; ++lane) {
        const int at = lane / 4 * (columns + kSm80StripRoom) + lane % 4 * 2;
        banks.insert(at % 32);
        banks.insert((at + 1) % 32);
      }
      EXPECT_EQ(banks.size(), 32U);
    }
    std::set<int> turned;
    for (int lane = 0; lane < 32; ++lane) {
      turned.insert(
          (lane % 4 * 2 * (columns + kSm80StripRoomTurned) + lane / 4) % 32);
    }
    EXPECT_EQ(turned.size(), 32U);
  }
}

}  // namespace
}  // namespace tunedops::cuda
