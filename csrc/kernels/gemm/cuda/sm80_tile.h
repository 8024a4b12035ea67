#pragma once

// Where the elements of an operand lie in the shared memory of a block of
// Gemm_Sm80, who copies them there and who reads them: arithmetic that the
// kernel's speed and correctness hang on. It includes nothing of CUDA, so that
// tests can go through all of it without a GPU.
//
// A stage holds a part of an operand, a number of rows (or columns) by 32 ks,
// as lines of what is contiguous in memory. Lines are cut into chunks of 16
// bytes, which change places within 128 bytes from line to line: so the eight
// lanes that read or write at once meet all banks.

namespace tunedops::cuda {

/// How much of k is in one stage.
inline constexpr int kSm80StageK = 32;
inline constexpr int kSm80Threads = 128;

/// `kTheSide`: rows or columns of the tile. `kAlongK`: k is contiguous.
template <int kTheSide, bool kAlongK>
struct Sm80Part {
  static constexpr int kSide = kTheSide;
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kLines = kIsAlongK ? kSide : kSm80StageK;
  static constexpr int kLength = kIsAlongK ? kSm80StageK : kSide;  // elements
  static constexpr int kLineBytes = 2 * kLength;
  static constexpr int kBytes = kLines * kLineBytes;

  /// The line that lies in a slot of so many bytes, and back. Lines of 64 bytes
  /// share 128 with the second next, since those two begin at even addresses or
  /// at odd ones alike: a warp that copies both has one thing to do.
  static constexpr int line_in(int slot) {
    return kIsAlongK ? (slot & ~3) | (slot & 1) << 1 | (slot >> 1 & 1) : slot;
  }
  static constexpr int slot_of(int line) { return line_in(line); }

  /// What is turned over in the number of a slot's chunks.
  static constexpr int mask_of(int slot) {
    return kIsAlongK ? slot / 2 % 4 : slot % 8;
  }

  /// Of a byte of a line, in the stage.
  static constexpr int place(int line, int byte) {
    const int slot = slot_of(line);
    return slot * kLineBytes + ((byte / 16 ^ mask_of(slot)) * 16) + byte % 16;
  }
};

/// Who copies what, in units of so many bytes: thread after thread along the
/// lines, so that a warp reads what is together.
template <class Part, int kUnit>
struct Sm80Units {
  static constexpr int kOfLine = Part::kLineBytes / kUnit;
  static constexpr int kStep = kSm80Threads / kOfLine;  // slots
  static constexpr int kCount = Part::kLines / kStep;   // units of a thread

  static constexpr int line(int thread) {
    return Part::line_in(thread / kOfLine);
  }
  static constexpr int byte(int thread) { return thread % kOfLine * kUnit; }

  /// A thread's other units lie in the same place of lines that are as far
  /// apart as their slots.
  static constexpr int line_step(int unit) { return unit * kStep; }

  /// From the place of the thread's first unit to that of another.
  static constexpr int stepped(int place, int unit) {
    const int slots = unit * kStep;
    return (place ^ (Part::mask_of(slots) * 16)) + slots * Part::kLineBytes;
  }

  static_assert(Part::kLineBytes % kUnit == 0 && kSm80Threads % kOfLine == 0);
  static_assert(Part::kLines % kStep == 0 && kStep % 2 == 0);
};

/// How a warp reads: 16 rows (or columns) by 16 ks, four matrices of 8 by 8.
/// They come in the order in which the instruction wants them: of its rows the
/// second 8 come before the second 8 ks, of its columns behind.
template <class Part, bool kIsRows>
struct Sm80Read {
  /// Which line of which chunk a lane gives the address of, for the first 16
  /// rows and ks of a stage.
  static constexpr int first(int lane) {
    const int in_matrix = lane % 8;
    const int row_half = kIsRows ? lane / 8 % 2 : lane / 16;
    const int k_half = kIsRows ? lane / 16 : lane / 8 % 2;
    return Part::kIsAlongK ? Part::place(8 * row_half + in_matrix, 16 * k_half)
                           : Part::place(8 * k_half + in_matrix, 16 * row_half);
  }

  /// From there to rows from `row` on, ks from 16 * `slice` on. `row` is a
  /// multiple of 16. From a warp's first row one can go on in the same way as
  /// long as no bit of the two numbers is the same.
  static constexpr int stepped(int first, int row, int slice) {
    return Part::kIsAlongK ? (first ^ (32 * slice)) + row * Part::kLineBytes
                           : (first ^ (row % 64 * 2)) + row / 64 * 128 +
                                 slice * 16 * Part::kLineBytes;
  }
};

/// What is to be copied of a unit, if so many elements of the line are left.
constexpr int bytes_to_copy(int left, int unit) {
  return left < 0 ? 0 : left < unit / 2 ? 2 * left : unit;
}

/// Where lines are not 4-byte aligned, words of two elements are fetched as
/// they lie: those of a line that begins at an odd element hold the one in
/// front of their own place and the first of the two. So every element comes
/// with a word but the last of a line's part, which is fetched alone. And so is
/// the one element that a word shares with what is in front of the whole line,
/// or behind it. `at` is the word's first element, -1 at least.
struct Sm80Word {
  int at;
  int length;  // of the whole line

  constexpr bool is_whole() const { return at >= 0 && at + 1 < length; }
  /// What is there of a word that is not whole, if anything is.
  constexpr int single() const { return at < 0 ? 0 : at; }
  constexpr bool has_single() const { return single() < length; }
  constexpr int single_shift() const { return at < 0 ? 16 : 0; }  // bits
};

}  // namespace tunedops::cuda
