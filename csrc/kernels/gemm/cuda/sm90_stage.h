#pragma once

// Sizes of what a block of Gemm_Sm90 has in shared memory: stages of operands,
// and strips through which sums go to the output. The host has to know them
// too.

#include <cstddef>

#include "kernels/gemm/cuda/tile_strip.h"
#include "kernels/gemm/cuda/warp_piece.h"

namespace tunedops::cuda {

/// How much of k is in one stage.
inline constexpr int kSm90StageK = 64;

/// Rows or columns that one piece of a tile holds, and its length along k.
inline constexpr int kPiece = 64;  // both
inline constexpr int kPieceLineBytes = 2 * kPiece;
inline constexpr int kPieceBytes = kPiece * kPieceLineBytes;

/// Of lines that are not aligned (see Sm90Operand), and how many elements of a
/// line come too early at most, with those that make 16 bytes of them.
inline constexpr int kClasses = 8;
inline constexpr int kTooEarly = 8;

/// Pieces of such an operand that are brought side by side, in lines that hold
/// both: where lines are ks and there is an even number of pieces.
constexpr int sm90_pieces_across(int pieces, bool is_along_k) {
  return is_along_k || pieces % 2 != 0 ? 1 : 2;
}

/// Elements of a line that is brought with those, for so many pieces side by
/// side.
constexpr int sm90_raw_length(int across) {
  return across * kPiece + kTooEarly;
}

/// Of an operand before it is shifted, for so many pieces.
constexpr int sm90_raw_bytes(int pieces, bool is_along_k) {
  const int across = sm90_pieces_across(pieces, is_along_k);
  return pieces / across * kPiece * 2 * sm90_raw_length(across);
}

/// That a ring may have.
inline constexpr int kSm90MostStages = 8;

/// Splits that meet in a cluster: as many as every cluster may have.
inline constexpr int kSm90MostClusterSplits = 8;

/// Warps that multiply: two groups of four.
inline constexpr int kSm90Warps = 8;

/// Eight rows by 64 columns of sums, each row with room behind it so that the
/// threads of a warp meet different banks.
inline constexpr int kSm90StripPitch = 72;
inline constexpr int kSm90StripBytes = 4 * kStripRows * kSm90StripPitch;
static_assert(kWarpPieceBytes <= kSm90StripBytes);

/// Strips of all warps; or pieces of both groups, of which one is written by
/// the copy engine while there is room for another (or two).
constexpr int sm90_strips_bytes(int buffers) {
  constexpr int kGroups = kSm90Warps / 4;
  const int pieces = buffers * kGroups * kPieceBytes;
  const int strips = kSm90Warps * kSm90StripBytes;
  return pieces > strips ? pieces : strips;
}

/// Results of a tile that are written aside: lines, each with room behind it
/// for the same reason.
constexpr int sm90_results_pitch(int columns) { return 2 * columns + 16; }
constexpr int sm90_results_bytes(int rows, int columns) {
  return rows * sm90_results_pitch(columns);
}

/// That a block may ask for on compute 9.0, less what a kernel has for itself.
inline constexpr std::size_t kSm90MostSharedBytes = (227 << 10) - 128;

/// The swizzle of the copies is a function of the address.
inline constexpr int kSm90Align = 1024;

/// Of a stage's barriers: operands are there, have been left, and are there
/// but not shifted yet.
inline constexpr int kSm90Barriers = 3;

/// Of results that are written aside: they are there, and have been written.
inline constexpr int kSm90ResultsBarriers = 2;

/// `output_bytes`: of strips or of results.
constexpr std::size_t sm90_shared_bytes(std::size_t stage_bytes, int stages,
                                        int output_bytes) {
  const int barriers = kSm90Barriers * stages + kSm90ResultsBarriers;
  return kSm90Align + static_cast<std::size_t>(stages) * stage_bytes +
         static_cast<std::size_t>(output_bytes) +
         sizeof(long long) * static_cast<std::size_t>(barriers);
}

}  // namespace tunedops::cuda
