#pragma once

// How a warp of Gemm_Sm90 brings 16 rows by 64 columns of its results into the
// order of the output: as matrices of 8 x 8, of which each thread holds two
// neighbours in a row, to shared memory, where lines of the output lie below
// each other. Of no GPU in particular, and so tested without one.

namespace tunedops::cuda {

/// Rows and columns.
inline constexpr int kWarpPieceRows = 16;
inline constexpr int kWarpPieceColumns = 64;

/// Four matrices are stored at a time, in four times: the matrix of columns
/// from 8 * `eighth` on, in the upper or the lower eight rows.
struct WarpMatrix {
  int eighth;
  int half;
};
constexpr WarpMatrix warp_matrix(int time, int number) {
  return {2 * time + number / 2, number % 2};
}

/// Of a warp alone whose rows are lines of the output: each has 128 bytes, with
/// room behind it so that threads meet different banks.
inline constexpr int kWarpPiecePitch = 2 * kWarpPieceColumns + 16;
inline constexpr int kWarpPieceBytes = kWarpPieceRows * kWarpPiecePitch;

/// Where a lane says that one row of a matrix goes: in bytes, for lines so many
/// bytes apart.
constexpr int warp_piece_target(int lane, int time,
                                int pitch = kWarpPiecePitch) {
  const WarpMatrix matrix = warp_matrix(time, lane / 8);
  return (8 * matrix.half + lane % 8) * pitch + 16 * matrix.eighth;
}

/// The same of four warps above each other, for the copy engine: 64 lines of
/// 128 bytes, whose chunks of 16 are where its swizzle wants them. Where the
/// piece is turned its columns are the lines, and a lane's are the columns of a
/// matrix.
constexpr int output_box_target(int warp, int lane, int time, bool is_turned) {
  const WarpMatrix matrix = warp_matrix(time, lane / 8);
  const int line = is_turned
                       ? 8 * matrix.eighth + lane % 8
                       : kWarpPieceRows * warp + 8 * matrix.half + lane % 8;
  const int chunk = is_turned ? 2 * warp + matrix.half : matrix.eighth;
  return line * 2 * kWarpPieceColumns + (chunk ^ (line % 8)) * 16;
}

}  // namespace tunedops::cuda
