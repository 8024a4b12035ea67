#pragma once

// Tiles of products of any size: a strip of some vectors of rows by a few
// columns keeps its sums in registers (broadcast_tile), and all columns of the
// tile share what a strip has of a. Where k is contiguous in a, a strip of it
// is turned over first, a few hundred values of k at a time; else it is read as
// it lies.
//
// Each result is summed in the order of k, some hundred ks by themselves and
// then these sums, so any number of threads gives the same bits.

#include "kernels/gemm/cpu/skinny_broadcast.h"
#include "kernels/gemm/cpu/tiled_product.h"
#include "kernels/gemm/cpu/transpose.h"

namespace tunedops::cpu {
namespace {

/// Turns runs of k over, to floats.
template <class SimdType, class Element>
struct WidenedTurn {
  using Simd = SimdType;
  using Vector = typename Simd::Vector;
  using A = Element;
  using Step = WidenedBroadcast<Simd, float>;  // of what it makes
  static constexpr int kDepth = Simd::kWidth;  // values of k in a vector
  static constexpr int kLines = Simd::kWidth;  // that they become

  static Vector load(const A* p, std::int64_t count) {
    return count >= kDepth ? Simd::load(p)
                           : Simd::load_partial(p, static_cast<int>(count));
  }
};

/// `depth` values of k of some rows, as lines of kVectors vectors; rows that do
/// not exist are zero.
template <class Turn, int kVectors>
void turn_over(const typename Turn::A* a, std::int64_t lda, std::int64_t rows,
               std::int64_t depth, float* to) {
  using Simd = typename Turn::Simd;
  using Vector = typename Simd::Vector;
  constexpr int kWidth = Simd::kWidth;
  constexpr int kLine = kVectors * kWidth;
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t count = rows - v * kWidth;
    const auto* const first = a + v * kWidth * lda;
    float* line = to + v * kWidth;
    for (std::int64_t i = 0; i < depth; i += Turn::kDepth) {
      Vector block[kWidth];
#pragma GCC unroll 16
      for (int row = 0; row < kWidth; ++row) {
        block[row] = row < count ? Turn::load(first + row * lda + i, depth - i)
                                 : Vector{};
      }
      transpose(block);
#pragma GCC unroll 16
      for (int k = 0; k < Turn::kLines; ++k) {
        Simd::store(line, block[k]);
        line += kLine;
      }
    }
  }
}

/// One strip of at most kVectors vectors of rows, turned over.
template <class Turn, int kVectors>
void multiply_turned(const Tile& tile, std::int64_t row, std::int64_t rows,
                     float* sums) {
  using Step = typename Turn::Step;
  constexpr int kLine = kVectors * Turn::Simd::kWidth;
  constexpr int kGroups = kVectors / Step::kVectors;
  const SkinnyProduct& product = tile.product;
  float* const turned = tile.scratch;
  for (std::int64_t k = tile.k_begin; k < tile.k_end; k += kTileDepth) {
    const std::int64_t rest = tile.k_end - k;
    const std::int64_t depth = rest < kTileDepth ? rest : kTileDepth;
    turn_over<Turn, kVectors>(static_cast<const typename Turn::A*>(product.a) +
                                  row * product.lda + k,
                              product.lda, rows, depth, turned);
    const BroadcastChunk chunk{kLine / (Turn::kDepth / Turn::kLines),
                               product.ldb,
                               depth,
                               kTileRows,
                               k == tile.k_begin,
                               rest <= kTileDepth};
    broadcast_strip<Step, kGroups>(
        product, chunk, reinterpret_cast<const typename Step::A*>(turned),
        static_cast<const typename Step::B*>(product.b) + k, sums);
  }
}

/// The same of a as it lies.
template <class Step, int kVectors>
void multiply_straight(const Tile& tile, std::int64_t row, std::int64_t rows,
                       float* sums) {
  constexpr int kGroups = kVectors / Step::kVectors;
  const SkinnyProduct& product = tile.product;
  for (std::int64_t k = tile.k_begin; k < tile.k_end; k += kTileDepth) {
    const std::int64_t rest = tile.k_end - k;
    const BroadcastChunk chunk{
        product.lda, product.ldb,       rest < kTileDepth ? rest : kTileDepth,
        kTileRows,   k == tile.k_begin, rest <= kTileDepth};
    const auto* const a =
        static_cast<const typename Step::A*>(product.a) + k * product.lda + row;
    const auto* const b = static_cast<const typename Step::B*>(product.b) + k;
    std::int64_t i = 0;
    for (; i + kGroups * Step::kRows <= rows; i += kGroups * Step::kRows) {
      broadcast_strip<Step, kGroups>(product, chunk, a + i, b, sums + i);
    }
    for (; i + Step::kRows <= rows; i += Step::kRows) {
      broadcast_strip<Step, 1>(product, chunk, a + i, b, sums + i);
    }
    if (i < rows) {
      broadcast_strip<Step, 1, true>(product, chunk, a + i, b, sums + i,
                                     static_cast<int>(rows - i));
    }
  }
}

/// Calls `multiply` for the tile's strips of so many rows, then finishes what
/// they summed up.
template <class Simd, class Element, class Multiply>
void multiply_tile(const Tile& tile, std::int64_t strip, Multiply multiply) {
  float* const sums = tile.partial != nullptr
                          ? tile.partial
                          : tile.scratch + kTileRows * kTileDepth;
  for (std::int64_t i = 0; i < tile.rows; i += strip) {
    const std::int64_t rest = tile.rows - i;
    multiply(tile.row + i, rest < strip ? rest : strip, sums + i);
  }
  if (tile.partial == nullptr) {
    finish_panel<Simd, Element>(tile.product, sums, kTileRows, tile.row,
                                tile.rows);
  }
}

template <class Turn>
void tile_transposed(const Tile& tile) {
  using Simd = typename Turn::Simd;
  multiply_tile<Simd, typename Turn::A>(
      tile, tile.product.block * Simd::kWidth,
      [&](std::int64_t row, std::int64_t rows, float* sums) {
        if (tile.product.block == 1) {
          multiply_turned<Turn, 1>(tile, row, rows, sums);
        } else if (tile.product.block == 2) {
          multiply_turned<Turn, 2>(tile, row, rows, sums);
        } else {
          multiply_turned<Turn, 4>(tile, row, rows, sums);
        }
      });
}

template <class Step>
void tile_straight(const Tile& tile) {
  multiply_tile<typename Step::Simd, typename Step::A>(
      tile, kTileRows, [&](std::int64_t row, std::int64_t rows, float* sums) {
        if (Step::kVectors == 1 && tile.product.block == 1) {
          multiply_straight<Step, Step::kVectors>(tile, row, rows, sums);
        } else if (tile.product.block <= 2) {
          multiply_straight<Step, 2>(tile, row, rows, sums);
        } else {
          multiply_straight<Step, 4>(tile, row, rows, sums);
        }
      });
}

/// In the order of the parts, so that results are the same in every run.
template <class Simd, class Element>
void finish_parts(const Tile& tile, int parts, std::int64_t apart) {
  for (std::int64_t i = 0; i < tile.product.n * tile.stride;
       i += Simd::kWidth) {
    typename Simd::Vector sum = Simd::load(tile.partial + i);
    for (int part = 1; part < parts; ++part) {
      sum += Simd::load(tile.partial + part * apart + i);
    }
    Simd::store(tile.partial + i, sum);
  }
  finish_panel<Simd, Element>(tile.product, tile.partial, tile.stride, tile.row,
                              tile.rows);
}

/// Turns b over: blocks of a vector's width squared.
template <class Simd, class From, class To>
void turn_columns(const TurnedColumns& columns, std::int64_t begin,
                  std::int64_t end) {
  using Vector = typename Simd::Vector;
  constexpr int kWidth = Simd::kWidth;
  for (std::int64_t j = 0; j < columns.n; j += kWidth) {
    const std::int64_t wide = columns.n - j < kWidth ? columns.n - j : kWidth;
    for (std::int64_t k = begin; k < end; k += kWidth) {
      const std::int64_t deep = end - k < kWidth ? end - k : kWidth;
      const auto* const from =
          static_cast<const From*>(columns.b) + k * columns.ldb + j;
      Vector block[kWidth];
#pragma GCC unroll 16
      for (int i = 0; i < kWidth; ++i) {
        block[i] = i >= deep ? Vector{}
                   : wide == kWidth
                       ? Simd::load(from + i * columns.ldb)
                       : Simd::load_partial(from + i * columns.ldb,
                                            static_cast<int>(wide));
      }
      transpose(block);
      To* const to = static_cast<To*>(columns.to) + j * columns.ld + k;
#pragma GCC unroll 16
      for (int i = 0; i < kWidth; ++i) {
        if (i >= wide) {
          break;
        }
        if (deep == kWidth) {
          Simd::store(to + i * columns.ld, block[i]);
        } else {
          Simd::store_partial(to + i * columns.ld, block[i],
                              static_cast<int>(deep));
        }
      }
    }
  }
}

/// All loops that widen to float.
template <class Simd, class Element>
constexpr TiledLoops widened_loops() {
  return {.transposed = tile_transposed<WidenedTurn<Simd, Element>>,
          .straight = tile_straight<WidenedBroadcast<Simd, Element>>,
          .finish = finish_parts<Simd, Element>,
          .turn_b = turn_columns<Simd, Element, float>,
          .widened_b = sizeof(Element) == 2};
}

}  // namespace
}  // namespace tunedops::cpu
