#pragma once

// How a warp of Gemm_Sm90 brings 16 rows by 64 columns of its results into the
// order of the output: as matrices of 8 x 8, of which each thread holds two
// neighbours in a row, to shared memory, where lines of the output lie below
// each other, and from there 16 bytes a thread. Of no GPU in particular, and so
// tested without one.

namespace tunedops::cuda {

/// Rows and columns. Where the rows of the instruction are lines of the output,
/// each has 128 bytes, with room behind it so that threads meet different
/// banks; else there are 64 lines of 32 bytes.
inline constexpr int kWarpPieceRows = 16;
inline constexpr int kWarpPieceColumns = 64;
inline constexpr int kWarpPiecePitch = 2 * kWarpPieceColumns + 16;
inline constexpr int kWarpPieceTurnedPitch = 2 * kWarpPieceRows;
inline constexpr int kWarpPieceBytes = kWarpPieceRows * kWarpPiecePitch;

/// Four matrices are stored at a time, in four times: the matrix of columns
/// from 8 * `eighth` on, in the upper or the lower eight rows.
struct WarpMatrix {
  int eighth;
  int half;
};
constexpr WarpMatrix warp_matrix(int time, int number) {
  return {2 * time + number / 2, number % 2};
}

/// Where a lane says that one row of a matrix goes, or column where they are
/// transposed: in bytes.
constexpr int warp_piece_target(int lane, int time, bool is_turned) {
  const WarpMatrix matrix = warp_matrix(time, lane / 8);
  return is_turned ? (8 * matrix.eighth + lane % 8) * kWarpPieceTurnedPitch +
                         16 * matrix.half
                   : (8 * matrix.half + lane % 8) * kWarpPiecePitch +
                         16 * matrix.eighth;
}

/// The 16 bytes that a lane takes from there, in four times too.
struct WarpChunk {
  int line;
  int at;  // the first of eight elements
  int byte;
};
constexpr WarpChunk warp_piece_chunk(int lane, int time, bool is_turned) {
  const int of_line = is_turned ? 2 : 8;
  const int line = (time * 32 + lane) / of_line;
  const int chunk = lane % of_line;
  return {line, 8 * chunk,
          line * (is_turned ? kWarpPieceTurnedPitch : kWarpPiecePitch) +
              16 * chunk};
}

}  // namespace tunedops::cuda
