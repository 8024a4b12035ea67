// The tiled loops of bfloat16 for AMX. The tiles multiply runs of ks of one
// operand with pairs of ks of the other. Where k is contiguous in a, its rows
// are loaded as they lie, and b is brought into pairs, once for all tiles. Else
// pairs of a are made of a strip of 32 rows at a time, which is cheap where
// rows are contiguous, and b is brought into runs. Panels of b lie in the order
// in which they are read.
//
// Each result is summed in the order of k in one chain, so neither the sizes of
// tiles nor the number of threads changes its bits.

#include "kernels/gemm/cpu/blocks_amx.h"
#include "kernels/gemm/cpu/panels_amx.h"
#include "kernels/gemm/cpu/tiled_loops.h"

namespace tunedops::cpu {
namespace {

/// Parts of the same length, but for the last.
template <class Body>
void for_each_part(const Tile& tile, const Body& body) {
  const std::int64_t whole = tile.k_end - tile.k_begin;
  const std::int64_t parts = (whole + kAmxDepth - 1) / kAmxDepth;
  const std::int64_t depth =
      ((whole + parts - 1) / parts + kTileKs - 1) / kTileKs * kTileKs;
  for (std::int64_t k = tile.k_begin; k < tile.k_end; k += depth) {
    const std::int64_t rest = tile.k_end - k;
    body(Part{k, less_of(rest, depth), k == tile.k_begin, rest <= depth});
  }
}

Runs rows_of_a(const Tile& tile, const Part& part, std::int64_t i,
               const Scratch& scratch) {
  const std::int64_t lda = tile.product.lda;
  const auto* const from = static_cast<const std::uint16_t*>(tile.product.a) +
                           (tile.row + i) * lda + part.begin;
  const auto count = less_of(kBlock, tile.rows - i);
  Runs runs;
  runs.steps = part.whole_steps();
  if (count % kTileLines == 0) {
    runs.whole = {from, lda, kTileLines * lda, kTileKs};
  } else {
    copy_runs(from, lda, count, kBlock, runs.steps * kTileKs, scratch.strip);
    runs.whole = {scratch.strip, kTileKs, kTileLines * kTileKs,
                  kBlock * kTileKs};
  }
  if (part.tail() != 0) {
    copy_runs(from + runs.steps * kTileKs, lda, count, kBlock, part.tail(),
              scratch.tail);
    runs.tail = {scratch.tail, kTileKs, kTileLines * kTileKs, 0};
  }
  return runs;
}

/// Columns from `j` on of b's panels, be they of runs or of pairs.
BlockSide panels_of_b(const Tile& tile, const Part& part, std::int64_t j) {
  const std::int64_t ld = tile.product.ldb;
  return {static_cast<const std::uint16_t*>(tile.product.b) + j * ld +
              part.begin * kTileLines,
          kTileKs, kTileLines * ld, kTileLines * kTileKs};
}

/// What follows the strip of rows from `i` on: the next one, or the next part
/// of the first, or what a tile after this one will begin with.
Ahead ahead_of(const Tile& tile, const Part& part, std::int64_t i,
               bool k_is_contiguous) {
  const bool is_last = i + kBlock >= tile.rows;
  const std::int64_t row =
      tile.row + (is_last ? part.last ? tile.rows : 0 : i + kBlock);
  const std::int64_t k = !is_last    ? part.begin
                         : part.last ? tile.k_begin
                                     : part.begin + part.depth;
  const std::int64_t lda = tile.product.lda;
  const auto* const a = static_cast<const char*>(tile.product.a);
  return k_is_contiguous ? Ahead{a + 2 * (row * lda + k), 2 * lda, 64}
                         : Ahead{a + 2 * (k * lda + row), 2 * lda, 64 * lda};
}

/// a: m runs of k elements. b: panels of pairs.
void amx_transposed(const Tile& tile) {
  const Scratch scratch(tile);
  Blocks<RowsAreRuns> blocks(tile, scratch);
  for_each_part(tile, [&](const Part& part) {
    for (std::int64_t i = 0; i < tile.rows; i += kBlock) {
      const Runs rows = rows_of_a(tile, part, i, scratch);
      const Ahead ahead = ahead_of(tile, part, i, true);
      for (std::int64_t j = 0; j < tile.product.n; j += kBlock) {
        blocks.multiply(part, i, j, rows, panels_of_b(tile, part, j), ahead);
      }
    }
  });
}

/// a: k runs of m elements. b: panels of runs.
void amx_straight(const Tile& tile) {
  const Scratch scratch(tile);
  Blocks<ColumnsAreRuns> blocks(tile, scratch);
  for_each_part(tile, [&](const Part& part) {
    const std::int64_t lda = tile.product.lda;
    const std::int64_t steps = (part.depth + kTileKs - 1) / kTileKs;
    for (std::int64_t i = 0; i < tile.rows; i += kBlock) {
      constexpr std::int64_t kPanel = kAmxDepth * kTileLines;
      interleave_runs(static_cast<const std::uint16_t*>(tile.product.a) +
                          part.begin * lda + tile.row + i,
                      lda, less_of(kBlock, tile.rows - i), part.depth,
                      scratch.strip, kPanel);
      const BlockSide pairs{scratch.strip, kTileKs, kPanel,
                            kTileLines * kTileKs};
      const Ahead ahead = ahead_of(tile, part, i, false);
      for (std::int64_t j = 0; j < tile.product.n; j += kBlock) {
        const Runs columns{panels_of_b(tile, part, j), steps, {}};
        blocks.multiply(part, i, j, columns, pairs, ahead);
      }
    }
  });
}

constinit const AmxSteps kSteps = {.pair_columns = pair_columns,
                                   .pair_rows = pair_rows,
                                   .run_columns = run_columns,
                                   .run_rows = run_rows,
                                   .enter = configure_tiles,
                                   .leave = release_tiles};

}  // namespace

constinit const TiledLoops kTiledBfloat16Amx = {
    .transposed = amx_transposed,
    .straight = amx_straight,
    .finish = finish_parts<SimdAvx512, std::uint16_t>,
    .turn_b = nullptr,
    .widened_b = false,
    .amx = &kSteps};

}  // namespace tunedops::cpu
