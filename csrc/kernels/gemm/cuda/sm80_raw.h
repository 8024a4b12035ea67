#pragma once

// The same as sm80_tile.h for an operand whose lines begin anywhere. Each comes
// from the 16-byte multiple before its first element on, which is `shift`
// elements too early, 0 to 7; so a stage holds a chunk more of every line, and
// lines stay as they lie in memory. Lines that are eight apart have the same
// shift, since eight of them are a multiple of 16 bytes. The elements that a
// thread multiplies are put together when they are read.

#include "kernels/gemm/cuda/sm80_tile.h"

namespace tunedops::cuda {

/// Where k is contiguous, all first chunks of lines come first, then all second
/// ones, and so on: each line has four banks of its own among eight lines,
/// however far it is shifted. Else lines are below each other.
template <int kTheSide, bool kAlongK>
struct Sm80Raw {
  static constexpr bool kIsRaw = true;
  static constexpr int kSide = kTheSide;
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kLines = kIsAlongK ? kSide : kSm80StageK;
  static constexpr int kLength = kIsAlongK ? kSm80StageK : kSide;  // used
  static constexpr int kChunks = kLength / 8 + 1;
  static constexpr int kBytes = kLines * kChunks * 16;
  /// From line to line, and from chunk to chunk of a line, in bytes.
  static constexpr int kPitch = kIsAlongK ? 16 : kChunks * 16;
  static constexpr int kChunkPitch = kIsAlongK ? kLines * 16 : 16;

  /// Of a byte of a line, in the stage.
  static constexpr int place(int line, int byte) {
    return line * kPitch + byte / 16 * kChunkPitch + byte % 16;
  }
};

/// Where k is contiguous, eight threads copy two neighbours of four lines: of
/// more lines each would read less of what is together in memory, of fewer they
/// would wait for each other's banks. The last chunk of a line is left to one
/// of the threads that copy the others.
template <int kTheSide, bool kAlongK>
struct Sm80Units<Sm80Raw<kTheSide, kAlongK>> {
  using Part = Sm80Raw<kTheSide, kAlongK>;
  using Plain = Sm80Units<Sm80Part<kTheSide, kAlongK>>;
  static constexpr int kOfLine = Plain::kOfLine;
  static constexpr int kCount = Plain::kCount;

  static constexpr int line(int thread) {
    return kAlongK ? thread / 16 * 4 + thread / 2 % 4 : Plain::line(thread);
  }
  static constexpr int chunk(int thread) {
    return kAlongK ? thread / 8 % 2 * 2 + thread % 2 : Plain::chunk(thread);
  }

  static constexpr int line_step(int unit) { return Plain::line_step(unit); }
  static constexpr int place_step(int unit) {
    return line_step(unit) * Part::kPitch;
  }

  /// Which of a thread's lines it copies the last chunk of: none, if the
  /// result is not less than kCount.
  static constexpr int tail_unit(int thread) { return chunk(thread); }

  static_assert(kCount <= kOfLine, "every line needs one who ends it");
};

/// What a thread multiplies of 8 rows (or columns) in a stage is four pairs of
/// neighbouring ks. Which ones does not matter as long as it is the same for
/// both operands. The matrix instruction's own order is two of each 8 ks, the
/// other one is eight that are together, which are five words where they begin
/// at an odd element, and not two for each pair. Threads begin at different
/// ones, so that they meet different banks.
template <bool kIsSpread>
constexpr int sm80_k(int in_group, int pair) {
  return kIsSpread ? 8 * in_group + (pair + in_group) % 4 * 2
                   : 8 * pair + 2 * in_group;
}

/// The words that a thread reads of a line along k, in that order: so two pairs
/// in a row meet in a word, but for the fifth word and the first.
inline constexpr int kSm80Words = 5;
template <class Raw>
constexpr int sm80_word_place(int shift, int in_group, int word) {
  const int first = shift / 2 + 4 * in_group;
  return Raw::place(0, 4 * (first + (word + in_group) % kSm80Words));
}

/// The number of the word that a pair begins in; the next number (after the
/// last, the first) is of the word that it ends in.
constexpr int sm80_word_of(int in_group, int pair) {
  return pair + in_group < 4 ? pair : pair + 1;
}

/// How a warp reads the aligned operand beside a raw one: four matrices of 8 by
/// 8 at a time, each of one pair. Of columns they are all pairs of 8; of rows,
/// as the instruction wants them, two pairs of 16, so there are two reads.
template <class Part, bool kIsSpread, bool kIsRows>
struct Sm80ReadPairs {
  static_assert(!Part::kIsAlongK || !kIsSpread);
  static constexpr int kReads = kIsRows ? 2 : 1;

  /// Which line of which chunk a lane gives the address of, for the first rows.
  static constexpr int first(int lane, int read) {
    const int matrix = lane / 8;
    const int in_matrix = lane % 8;
    const int row = kIsRows ? 8 * (matrix % 2) : 0;
    const int pair = kIsRows ? 2 * read + matrix / 2 : matrix;
    return Part::kIsAlongK
               ? Part::place(row + in_matrix, 16 * pair)
               : Part::place(sm80_k<kIsSpread>(in_matrix / 2, pair) +
                                 in_matrix % 2,
                             2 * row);
  }

  /// As Sm80Read does it, by multiples of 16 rows or 8 columns.
  static constexpr int stepped(int first, int row) {
    return Sm80Read<Part, kIsRows>::stepped(first, row, 0);
  }
};

}  // namespace tunedops::cuda
