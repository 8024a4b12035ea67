#pragma once

// What the plan of a tiled product hands to its inner loops: the border between
// code for any CPU and code for one, as skinny_product.h says it.

#include "kernels/gemm/cpu/skinny_product.h"

#include <cstdint>

namespace tunedops::cpu {

/// Values of k that are brought into the form of the loops at a time, and whose
/// sums stay in registers.
inline constexpr int kTileDepth = 256;

/// Rows that one call computes at most: four vectors of sixteen.
inline constexpr int kTileRows = 64;

/// Memory of one thread, in floats: a chunk of a, and the sums of a tile.
constexpr std::int64_t tile_scratch(std::int64_t columns) {
  return kTileRows * (kTileDepth + columns);
}

/// With AMX: values of k whose sums stay in the tile registers. Sums that go to
/// memory between shorter parts cost more than a strip of a in the second-level
/// cache.
inline constexpr int kAmxDepth = 1024;

/// With AMX: three blocks of 32 x 32, 32 runs of a and their ends, and the sums
/// of a tile.
constexpr std::int64_t amx_tile_scratch(std::int64_t rows,
                                        std::int64_t columns) {
  return 3 * 32 * 32 + 16 * kAmxDepth + 16 * 32 + rows * columns;
}

/// A tile of a product: `product` begins at its first column, and k is the
/// whole of it.
struct Tile {
  SkinnyProduct product;  // n: columns of the tile
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t k_begin = 0;  // the part of k that is summed up
  std::int64_t k_end = 0;
  float* scratch = nullptr;  // tile_scratch, aligned to a cache line
  /// Where sums go that are not finished: [columns][stride]. Null: they are
  /// all there is, and are finished.
  float* partial = nullptr;
  std::int64_t stride = kTileRows;
};

using TileFunction = void (*)(const Tile& tile);

/// Finishes what `parts` calls left in `tile.partial`, so many floats apart.
using FinishFunction = void (*)(const Tile& tile, int parts,
                                std::int64_t apart);

/// Brings ks [begin, end) of n columns of b into another form, in the type that
/// the loops want.
struct TurnedColumns {
  const void* b = nullptr;
  std::int64_t ldb = 0;
  std::int64_t n = 0;
  void* to = nullptr;
  std::int64_t ld = 0;
};
using TurnFunction = void (*)(const TurnedColumns& columns, std::int64_t begin,
                              std::int64_t end);

/// What AMX's loops want done before and after them.
struct AmxSteps {
  /// To panels of 16 columns of b, filled up with zeros to whole ones and to
  /// whole 32 ks, for `transposed` and for `straight`: from columns of k
  /// consecutive elements, and from contiguous columns.
  TurnFunction pair_columns;  // [n / 16][k / 2][16] pairs
  TurnFunction pair_rows;
  TurnFunction run_columns;  // [n / 16][k / 32][16][32]
  TurnFunction run_rows;
  /// By each thread, around its tiles.
  void (*enter)();
  void (*leave)();
};

/// The loops of one element type and instruction set.
struct TiledLoops {
  TileFunction transposed;  // a: m runs of k elements
  TileFunction straight;    // k runs of m elements
  FinishFunction finish;
  TurnFunction turn_b;  // columns contiguous, to k consecutive elements
  bool widened_b;       // b is wanted as float
  const AmxSteps* amx = nullptr;
};

extern const TiledLoops kTiledFloat32Portable;
extern const TiledLoops kTiledFloat32Avx2;
extern const TiledLoops kTiledFloat32Avx512;
extern const TiledLoops kTiledBfloat16Portable;
extern const TiledLoops kTiledBfloat16Avx2;
extern const TiledLoops kTiledBfloat16Avx512;
extern const TiledLoops kTiledBfloat16Avx512Bf16;
extern const TiledLoops kTiledBfloat16Amx;
extern const TiledLoops kTiledFloat16Portable;
extern const TiledLoops kTiledFloat16Avx2;
extern const TiledLoops kTiledFloat16Avx512;

}  // namespace tunedops::cpu
