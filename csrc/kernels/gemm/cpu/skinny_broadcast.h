#pragma once

// Skinny products whose weights are stored as they are multiplied: k runs of m
// consecutive weights. A vector holds neighbouring rows of the product, and
// each value of b multiplies a whole vector.
//
// Memory is fastest in long runs, so a panel of many rows is summed up over a
// few k at a time, its sums staying in the second-level cache. Within that, a
// strip of rows keeps its accumulators in registers: as many vectors as the
// config says, and the columns that then fit, in groups; the later groups find
// the weights in the first-level cache.
//
// Each result is summed in the order of k, so every config and any number of
// threads give the same bits.

#include "kernels/gemm/cpu/skinny_finish.h"
#include "kernels/gemm/cpu/skinny_product.h"

#include <cstdint>

namespace tunedops::cpu {
namespace {

/// One step along k: kRows rows in kVectors vectors, kDepth values of k.
template <class SimdType, class Element>
struct WidenedBroadcast {
  using Simd = SimdType;
  using Vector = typename Simd::Vector;
  using A = Element;
  using B = float;
  static constexpr int kDepth = 1;
  static constexpr int kVectors = 1;
  static constexpr int kRows = Simd::kWidth;

  /// `rows` rows if kPartial, and one value of k if kLast.
  template <bool kPartial, bool kLast>
  static void load(const A* p, std::int64_t, int rows, Vector* to) {
    to[0] = kPartial ? Simd::load_partial(p, rows) : Simd::load(p);
  }

  template <bool kLast>
  static Vector load_b(const B* p) {
    return Simd::broadcast(*p);
  }

  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return Simd::multiply_add(a, b, sum);
  }

  /// From the order of `load` to that of memory.
  static void reorder(Vector*) {}
};

template <bool kValue>
struct Truth {};

template <class Step>
struct BroadcastTile {
  const typename Step::A* a;
  std::int64_t lda;
  const typename Step::B* b;
  std::int64_t ldb;
  std::int64_t depth;
  int rows;    // of a partial tile
  float* sums; // [kColumns][stride]
  std::int64_t stride;
  bool first; // of its chunks: sums hold nothing yet
  bool last;
  // The prefetch covers groups [ahead_from, ahead_to).
  int ahead_from;
  int ahead_to;
};

/// kGroups times kRows rows; a partial tile has fewer, and one group.
template <class Step, int kGroups, int kColumns, bool kPartial>
__attribute__((noinline)) void broadcast_tile(const BroadcastTile<Step>& tile) {
  using Simd = typename Step::Simd;
  using Vector = typename Simd::Vector;
  constexpr int kVectors = kGroups * Step::kVectors;
  constexpr int kLookahead = 512 / sizeof(typename Step::A);
  const std::int64_t lda = tile.lda;
  const std::int64_t ldb = tile.ldb;
  Vector sums[kColumns][kVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sums[j][v] =
          tile.first
              ? Vector{}
              : Simd::load(tile.sums + j * tile.stride + v * Simd::kWidth);
    }
  }
  const auto step = [&]<bool kLast>(
                        std::int64_t i,
                        Truth<kLast>) __attribute__((always_inline)) {
    const auto* const a = tile.a + i * lda;
    const auto* const b = tile.b + i;
    Vector weights[kVectors];
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
      Step::template load<kPartial, kLast>(
          a + g * Step::kRows, lda, tile.rows, weights + g * Step::kVectors);
    }
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) {
      const Vector value = Step::template load_b<kLast>(b + j * ldb);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        sums[j][v] = Step::multiply_add(weights[v], value, sums[j][v]);
      }
    }
  };
  std::int64_t i = 0;
  if (tile.ahead_from < tile.ahead_to) {
    for (; i + Step::kDepth <= tile.depth; i += Step::kDepth) {
      for (int g = tile.ahead_from; g < tile.ahead_to; ++g) {
        for (int d = 0; d < Step::kDepth; ++d) {
          __builtin_prefetch(
              tile.a + (i + d) * lda + g * Step::kRows + kLookahead);
        }
      }
      step(i, Truth<false>{});
    }
  } else {
    for (; i + Step::kDepth <= tile.depth; i += Step::kDepth) {
      step(i, Truth<false>{});
    }
  }
  if (Step::kDepth > 1 && i < tile.depth) {
    step(i, Truth<true>{});
  }
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
    if (tile.last) {
#pragma GCC unroll 16
      for (int g = 0; g < kGroups; ++g) {
        Step::reorder(sums[j] + g * Step::kVectors);
      }
    }
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Simd::store(tile.sums + j * tile.stride + v * Simd::kWidth, sums[j][v]);
    }
  }
}

template <class Step, int kGroups, int kColumns, bool kPartial>
void broadcast_tile_of(int columns, const BroadcastTile<Step>& tile) {
  if constexpr (kColumns > 1) {
    if (columns < kColumns) {
      return broadcast_tile_of<Step, kGroups, kColumns - 1, kPartial>(
          columns, tile);
    }
  }
  broadcast_tile<Step, kGroups, kColumns, kPartial>(tile);
}

/// Adds the products with the tile's values of k to one strip, all columns.
template <class Step, int kGroups, bool kPartial = false>
void broadcast_strip(const SkinnyProduct& product, BroadcastTile<Step> tile) {
  constexpr int kFit = Step::Simd::kAccumulators / (kGroups * Step::kVectors);
  constexpr int kMaxColumns = kFit < 8 ? kFit : 8;
  const int n = product.n;
  const int groups = (n + kMaxColumns - 1) / kMaxColumns;
  for (int group = 0; group < groups; ++group) {
    const int columns = n / groups + (group < n % groups ? 1 : 0);
    if (product.prefetch) {
      tile.ahead_from = kGroups * group / groups;
      tile.ahead_to = kGroups * (group + 1) / groups;
    }
    broadcast_tile_of<Step, kGroups, kMaxColumns, kPartial>(columns, tile);
    tile.b += columns * tile.ldb;
    tile.sums += columns * tile.stride;
  }
}

/// One panel, a few values of k at a time.
template <class Step, int kGroups>
void broadcast_panel(
    const SkinnyProduct& product,
    std::int64_t row,
    std::int64_t rows,
    float* sums,
    std::int64_t stride) {
  constexpr int kChunk = 16;
  BroadcastTile<Step> tile{};
  tile.lda = product.lda;
  tile.ldb = product.ldb;
  tile.stride = stride;
  for (std::int64_t start = 0; start < product.k; start += kChunk) {
    const std::int64_t rest = product.k - start;
    tile.depth = rest < kChunk ? rest : kChunk;
    tile.first = start == 0;
    tile.last = rest <= kChunk;
    tile.a = static_cast<const typename Step::A*>(product.a) +
             start * product.lda + row;
    tile.b = static_cast<const typename Step::B*>(product.b) + start;
    tile.sums = sums;
    std::int64_t left = rows;
    const auto advance = [&](int done) {
      tile.a += done;
      tile.sums += done;
      left -= done;
    };
    while (left >= kGroups * Step::kRows) {
      broadcast_strip<Step, kGroups>(product, tile);
      advance(kGroups * Step::kRows);
    }
    while (left >= Step::kRows) {
      broadcast_strip<Step, 1>(product, tile);
      advance(Step::kRows);
    }
    if (left > 0) {
      tile.rows = static_cast<int>(left);
      broadcast_strip<Step, 1, true>(product, tile);
    }
  }
}

template <class Step>
void skinny_broadcast(
    const SkinnyProduct& product, std::int64_t begin, std::int64_t end) {
  // 128 KiB of the stack, shared by all columns.
  constexpr int kPanelFloats = 32 * 1024;
  constexpr std::int64_t kMaxPanelRows = 4096;
  alignas(64) float sums[kPanelFloats];
  const std::int64_t fit = kPanelFloats / product.n / 128 * 128;
  const std::int64_t stride = fit < kMaxPanelRows ? fit : kMaxPanelRows;
  for (std::int64_t row = begin; row < end; row += stride) {
    const std::int64_t rows = end - row < stride ? end - row : stride;
    if (product.block == 8) {
      broadcast_panel<Step, 8 / Step::kVectors>(
          product, row, rows, sums, stride);
    } else if (product.block == 4) {
      broadcast_panel<Step, 4 / Step::kVectors>(
          product, row, rows, sums, stride);
    } else {
      broadcast_panel<Step, 2 / Step::kVectors>(
          product, row, rows, sums, stride);
    }
    finish_panel<typename Step::Simd, typename Step::A>(
        product, sums, stride, row, rows);
  }
}

} // namespace
} // namespace tunedops::cpu
