// Where Gemm_Sm80 has what in shared memory: every element is copied once, to
// where the matrix instruction takes it for its row and k; no lanes wait for
// each other's banks; and of lines that begin anywhere, nothing outside is
// read. A mistake here is a wrong product, which only a GPU would show.

#include "kernels/gemm/cuda/sm80_tile.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gemm/cuda/sm80_raw.h"
#include "kernels/gemm/cuda/sm80_strip.h"

namespace tunedops::cuda {
namespace {

template <class Part>
class Sm80TileTest : public testing::Test {};

using Parts = testing::Types<Sm80Part<64, true>, Sm80Part<64, false>,
                             Sm80Part<128, true>, Sm80Part<128, false>>;
TYPED_TEST_SUITE(Sm80TileTest, Parts);

template <class Part>
using RawOf = Sm80Raw<Part::kSide, Part::kIsAlongK>;

/// Of 16 bytes, eight of which are all banks.
int bank_group(int place) { return place / 16 % 8; }

/// How often the busiest bank is asked for another word.
int wait_of(const std::vector<int>& places) {
  std::map<int, std::set<int>> words;
  std::size_t most = 0;
  for (const int place : places) {
    std::set<int>& of_bank = words[place / 4 % 32];
    of_bank.insert(place / 4);
    most = std::max(most, of_bank.size());
  }
  return static_cast<int>(most);
}

template <class Part>
void expect_places(int line_bytes) {
  std::set<int> places;
  for (int line = 0; line < Part::kLines; ++line) {
    for (int byte = 0; byte < line_bytes; ++byte) {
      const int place = Part::place(line, byte);
      EXPECT_TRUE(place >= 0 && place < Part::kBytes);
      EXPECT_EQ(place % 16, byte % 16) << "chunks stay together";
      places.insert(place);
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(Part::kBytes));
  EXPECT_EQ(Part::kBytes % 128, 0) << "what is behind begins at the first bank";
}

TYPED_TEST(Sm80TileTest, EveryByteHasAPlaceOfItsOwn) {
  expect_places<TypeParam>(2 * TypeParam::kLength);
  expect_places<RawOf<TypeParam>>(2 * TypeParam::kLength + 16);
}

// Of eight threads that write 128 bytes together, so many meet in a bank.
template <class Part>
std::set<int> copy_all(int most_in_a_bank) {
  using Units = Sm80Units<Part>;
  std::set<int> places;
  for (int begin = 0; begin < kSm80Threads; begin += 8) {
    std::map<int, int> groups;
    for (int thread = begin; thread < begin + 8; ++thread) {
      const int byte = 16 * Units::chunk(thread);
      const int first = Part::place(Units::line(thread), byte);
      EXPECT_LE(++groups[bank_group(first)], most_in_a_bank);
      for (int i = 0; i < Units::kCount; ++i) {
        const int line = Units::line(thread) + Units::line_step(i);
        EXPECT_LT(line, Part::kLines);
        EXPECT_EQ(line % 8, Units::line(thread) % 8) << "shifted differently";
        EXPECT_EQ(first + Units::place_step(i), Part::place(line, byte));
        EXPECT_TRUE(places.insert(Part::place(line, byte)).second) << "twice";
      }
    }
  }
  return places;
}

TYPED_TEST(Sm80TileTest, ThreadsCopyAllOfEveryLine) {
  const std::size_t chunks = TypeParam::kBytes / 16;
  EXPECT_EQ(copy_all<TypeParam>(1).size(), chunks);
  using Raw = RawOf<TypeParam>;
  using Units = Sm80Units<Raw>;
  std::set<int> places = copy_all<Raw>(Raw::kIsAlongK ? 2 : 1);
  EXPECT_EQ(places.size(), chunks);
  for (int thread = 0; thread < kSm80Threads; ++thread) {
    if (const int unit = Units::tail_unit(thread); unit < Units::kCount) {
      const int line = Units::line(thread) + Units::line_step(unit);
      places.insert(Raw::place(line, 16 * Units::kOfLine));
    }
  }
  EXPECT_EQ(16 * places.size(), static_cast<std::size_t>(Raw::kBytes));
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

// Which ks a lane has in a register, beside a raw operand: those of the pair
// for which the register stands.
template <class Part, bool kIsSpread, bool kIsRows>
void expect_reads_pairs() {
  using Read = Sm80ReadPairs<Part, kIsSpread, kIsRows>;
  constexpr int kStep = kIsRows ? 16 : 8;
  constexpr int kWarpRows = Part::kSide / 2;
  for (const int warp_row : {0, kWarpRows}) {
    for (int row = 0; row < kWarpRows; row += kStep) {
      for (int read = 0; read < Read::kReads; ++read) {
        const auto address = [&](int lane) {
          return Read::stepped(Read::stepped(Read::first(lane, read), warp_row),
                               row);
        };
        for (int lane = 0; lane < 32; ++lane) {
          for (int matrix = 0; matrix < 4; ++matrix) {
            const int pair = kIsRows ? 2 * read + matrix / 2 : matrix;
            const int of_row =
                warp_row + row + lane / 4 + (kIsRows ? 8 * (matrix % 2) : 0);
            for (const int i : {0, 1}) {
              const int in_matrix = lane % 4 * 2 + i;
              const int k = sm80_k<kIsSpread>(lane % 4, pair) + i;
              const int place =
                  Part::kIsAlongK
                      ? address(8 * matrix + lane / 4) + 2 * in_matrix
                      : address(8 * matrix + in_matrix) + 2 * (lane / 4);
              EXPECT_EQ(place, Part::kIsAlongK ? Part::place(of_row, 2 * k)
                                               : Part::place(k, 2 * of_row));
            }
          }
        }
        for (int begin = 0; begin < 32; begin += 8) {
          std::set<int> groups;
          for (int lane = begin; lane < begin + 8; ++lane) {
            groups.insert(bank_group(address(lane)));
          }
          EXPECT_EQ(groups.size(), 8U) << "lanes wait for each other";
        }
      }
    }
  }
}

TYPED_TEST(Sm80TileTest, WarpsReadTheSameKsBesideARawOperand) {
  expect_reads_pairs<TypeParam, false, true>();
  expect_reads_pairs<TypeParam, false, false>();
  if constexpr (!TypeParam::kIsAlongK) {
    expect_reads_pairs<TypeParam, true, true>();
    expect_reads_pairs<TypeParam, true, false>();
  }
}

template <bool kIsSpread>
void expect_each_k_once() {
  std::set<int> ks;
  for (int in_group = 0; in_group < 4; ++in_group) {
    for (int pair = 0; pair < 4; ++pair) {
      ks.insert(sm80_k<kIsSpread>(in_group, pair));
      EXPECT_EQ(sm80_k<kIsSpread>(in_group, pair) % 2, 0);
    }
  }
  EXPECT_EQ(ks.size(), 16U);
  EXPECT_EQ(*ks.rbegin(), kSm80StageK - 2);
}

TEST(Sm80Order, HasEveryKOnce) {
  expect_each_k_once<false>();
  expect_each_k_once<true>();
}

// Lines whose first one begins at `start`, each `apart` further: elements, of
// which only the place within 16 bytes matters.
int shift_of(int start, int apart, int line) {
  return (start + apart * line) % 8;
}

// As Sm80Fragments does it: the places of both elements of a pair, from the
// words that they are in.
template <class Raw>
void expect_words(int start, int apart) {
  for (int word = 0; word < kSm80Words; ++word) {
    std::vector<int> places;
    for (int lane = 0; lane < 32; ++lane) {
      const int shift = shift_of(start, apart, lane / 4);
      places.push_back(Raw::place(lane / 4, 0) +
                       sm80_word_place<Raw>(shift, lane % 4, word));
    }
    EXPECT_EQ(wait_of(places), 1) << "lanes wait for each other";
  }
  for (int lane = 0; lane < 32; ++lane) {
    const int line = lane / 4;
    const int shift = shift_of(start, apart, line);
    for (int pair = 0; pair < 4; ++pair) {
      const int word = sm80_word_of(lane % 4, pair);
      const auto place = [&](int number) {
        return Raw::place(line, 0) +
               sm80_word_place<Raw>(shift, lane % 4, number % kSm80Words);
      };
      const int k = sm80_k<true>(lane % 4, pair);
      const bool is_odd = shift % 2 != 0;
      EXPECT_EQ(place(word) + (is_odd ? 2 : 0),
                Raw::place(line, 2 * (shift + k)));
      EXPECT_EQ(is_odd ? place(word + 1) : place(word) + 2,
                Raw::place(line, 2 * (shift + k + 1)));
    }
  }
}

template <class Raw, bool kIsSpread>
void expect_elements(int start, int apart) {
  for (int pair = 0; pair < 4; ++pair) {
    for (const int i : {0, 1}) {
      std::vector<int> places;
      for (int lane = 0; lane < 32; ++lane) {
        const int k = sm80_k<kIsSpread>(lane % 4, pair) + i;
        places.push_back(
            Raw::place(k, 2 * (shift_of(start, apart, k) + lane / 4)));
      }
      EXPECT_EQ(wait_of(places), 1) << "lanes wait for each other";
    }
  }
}

TYPED_TEST(Sm80TileTest, LanesReadRawLinesThatAreShiftedAnyhow) {
  using Raw = RawOf<TypeParam>;
  for (int start = 0; start < 8; ++start) {
    for (int apart = 0; apart < 8; ++apart) {
      if constexpr (Raw::kIsAlongK) {
        expect_words<Raw>(start, apart);
      } else {
        expect_elements<Raw, false>(start, apart);
        expect_elements<Raw, true>(start, apart);
      }
    }
  }
}

// As Sm80Copier does it, chunk by chunk: all that a step has of the line comes,
// and nothing is read behind the line, nor before the 16 bytes that it begins
// in.
TEST(Sm80Bytes, OfALineThatBeginsAnywhereNothingElseIsCopied) {
  for (int length = 1; length <= 100; ++length) {
    for (int shift = 0; shift < 8; ++shift) {
      for (int at = 0; at < length; at += kSm80StageK) {
        std::set<int> copied;
        for (int chunk = 0; chunk <= kSm80StageK / 8; ++chunk) {
          const int element = at + 8 * chunk - shift;
          const int bytes = bytes_to_copy(length - element);
          for (int i = 0; i < bytes / 2; ++i) {
            copied.insert(element + i);
          }
        }
        EXPECT_GE(*copied.begin(), at - shift);
        EXPECT_LT(*copied.rbegin(), length);
        for (int i = at; i < std::min(at + kSm80StageK, length); ++i) {
          EXPECT_EQ(copied.count(i), 1U);
        }
      }
    }
  }
}

TEST(Sm80Bytes, NoMoreThanTheLineHasIsCopied) {
  EXPECT_EQ(bytes_to_copy(100), 16);
  EXPECT_EQ(bytes_to_copy(8), 16);
  EXPECT_EQ(bytes_to_copy(7), 14);
  EXPECT_EQ(bytes_to_copy(1), 2);
  EXPECT_EQ(bytes_to_copy(0), 0);
  EXPECT_EQ(bytes_to_copy(-(1 << 30)), 0);
  EXPECT_EQ(bytes_to_copy(1 << 30), 16);
}

TYPED_TEST(Sm80TileTest, TheHostKnowsHowLargePartsAre) {
  constexpr int kSide = TypeParam::kSide;
  constexpr bool kIsAlongK = TypeParam::kIsAlongK;
  EXPECT_EQ(sm80_part_bytes(kSide, kIsAlongK, true),
            static_cast<std::size_t>(TypeParam::kBytes));
  EXPECT_EQ(sm80_part_bytes(kSide, kIsAlongK, false),
            static_cast<std::size_t>(RawOf<TypeParam>::kBytes));
}

// Strips lie where stages were.
TEST(Sm80Strip, StripsFitTheLeastStages) {
  for (const auto& [rows, columns] :
       {std::pair{64, 64}, std::pair{64, 128}, std::pair{128, 128}}) {
    const auto stage = sm80_part_bytes(rows, true, true) +
                       sm80_part_bytes(columns, true, true);
    const auto stages = 2 * stage;
    EXPECT_EQ(sm80_shared_bytes(rows, columns, stage, 2), stages);
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
