// How a GPU's threads share an operand: every element in exactly one piece,
// and whole words only where memory is aligned for them.

#include "backends/cuda/element_pieces.h"

#include <map>

#include <gtest/gtest.h>

#include "layouts.h"
#include "tuning/operand_layout.h"

namespace tunedops::cuda {
namespace {

template <std::int64_t size>
void check(const Operand& operand, std::uintptr_t address) {
  const Runs runs = element_runs(operand);
  std::map<std::int64_t, int> visits;
  for (std::int64_t run = 0; run < runs.count(); ++run) {
    for (std::int64_t i = 0; i < runs.length; ++i) {
      visits[runs.start(run) + i] = 0;
    }
  }
  const ElementPieces<size> pieces(runs, address);
  std::int64_t words = 0;
  for (std::int64_t item = 0; item < pieces.count(); ++item) {
    const Piece piece = pieces.at(item);
    ASSERT_LE(piece.begin, piece.end);
    ASSERT_LE(piece.end - piece.begin, 16 / size);
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      ASSERT_TRUE(visits.contains(i));
      ++visits[i];
    }
    if (piece.is_word) {
      ++words;
      ASSERT_EQ(piece.end - piece.begin, 16 / size);
      ASSERT_EQ(
          (address + static_cast<std::uintptr_t>(piece.begin * size)) % 16, 0U);
    }
  }
  for (const auto& [index, count] : visits) {
    ASSERT_EQ(count, 1) << index;
  }
  if (address % size == 0) {
    EXPECT_GE(words, runs.count() * (runs.length * size / 16 - 1));
  } else {
    EXPECT_EQ(words, 0);
  }
}

TEST(ElementPieces, CoverEveryElementOnce) {
  for (const Operand& operand : layouts()) {
    for (std::uintptr_t address = 4096; address < 4096 + 16; ++address) {
      check<1>(operand, address);
      check<2>(operand, address);
      check<4>(operand, address);
      check<8>(operand, address);
      check<16>(operand, address);
    }
  }
}

TEST(ElementPieces, NothingHasNoPieces) {
  EXPECT_EQ(ElementPieces<2>(Runs{}, 4096).count(), 0);
}

}  // namespace
}  // namespace tunedops::cuda
