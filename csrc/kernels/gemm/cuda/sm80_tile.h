#pragma once

// Where the elements of an operand lie in the shared memory of a block of
// Gemm_Sm80, who copies them there and who reads them: arithmetic that the
// kernel's speed and correctness hang on. It includes nothing of CUDA, so that
// tests can go through all of it without a GPU.
//
// A stage holds a part of an operand, a number of rows (or columns) by 32 ks,
// as lines of what is contiguous in memory. Lines are cut into chunks of 16
// bytes, which change places within 128 bytes from line to line: so the eight
// lanes that read or write at once meet all banks. This is for lines that begin
// at multiples of 16 bytes; sm80_raw.h is for all others.

namespace tunedops::cuda {

/// How much of k is in one stage.
inline constexpr int kSm80StageK = 32;
inline constexpr int kSm80Threads = 128;

/// `kTheSide`: rows or columns of the tile. `kAlongK`: k is contiguous.
template <int kTheSide, bool kAlongK>
struct Sm80Part {
  static constexpr bool kIsRaw = false;
  static constexpr int kSide = kTheSide;
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kLines = kIsAlongK ? kSide : kSm80StageK;
  static constexpr int kLength = kIsAlongK ? kSm80StageK : kSide;  // elements
  static constexpr int kPitch = 2 * kLength;  // bytes from line to line
  static constexpr int kBytes = kLines * kPitch;

  /// What is turned over in the number of a line's chunks. Of lines of 64 bytes
  /// two share 128.
  static constexpr int mask_of(int line) {
    return kIsAlongK ? line / 2 % 4 : line % 8;
  }

  /// Of a byte of a line, in the stage.
  static constexpr int place(int line, int byte) {
    return line * kPitch + ((byte / 16 ^ mask_of(line)) * 16) + byte % 16;
  }
};

/// Who copies what, chunk by chunk: thread after thread along the lines, so
/// that a warp reads what is together.
template <class Part>
struct Sm80Units {
  static constexpr int kOfLine = Part::kLength / 8;
  static constexpr int kStep = kSm80Threads / kOfLine;  // lines
  static constexpr int kCount = Part::kLines / kStep;   // chunks of a thread

  /// Of the thread's first chunk. The others are the same of further lines.
  static constexpr int line(int thread) { return thread / kOfLine; }
  static constexpr int chunk(int thread) { return thread % kOfLine; }

  static constexpr int line_step(int unit) { return unit * kStep; }
  static constexpr int place_step(int unit) {
    return line_step(unit) * Part::kPitch;
  }

  static_assert(Part::kLength % 8 == 0 && kSm80Threads % kOfLine == 0);
  static_assert(Part::kLines % kStep == 0 && kStep % 8 == 0);
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
    return Part::kIsAlongK ? (first ^ (32 * slice)) + row * Part::kPitch
                           : (first ^ (row % 64 * 2)) + row / 64 * 128 +
                                 slice * 16 * Part::kPitch;
  }
};

/// What is to be copied of a chunk, if so many elements of the line are left.
constexpr int bytes_to_copy(int left) {
  return left < 0 ? 0 : left < 8 ? 2 * left : 16;
}

}  // namespace tunedops::cuda
