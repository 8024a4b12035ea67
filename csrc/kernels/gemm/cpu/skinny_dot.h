#pragma once

// Skinny products whose weights are stored transposed: each row of the product
// is a run of k consecutive weights, and each result is the dot product of one
// such run with a column of b.
//
// A tile keeps kRows x kColumns accumulators in registers. The weights should
// cross the memory bus once, at the bus's speed; what limits that is b, which
// each block of rows reads again, from the second-level cache. More rows in a
// block mean fewer of these reads, but then not all columns fit the registers.
// So columns are taken in groups, and k in chunks so short that the later
// groups find the weights of the first one in the first-level cache. While they
// do, the bus would idle: they prefetch the next chunk.
//
// The order of additions depends on k and the instruction set only, so every
// config and any number of threads give the same bits.

#include "kernels/gemm/cpu/skinny_finish.h"
#include "kernels/gemm/cpu/skinny_product.h"

#include <cstdint>

namespace tunedops::cpu {
namespace {

/// One step along k: a vector of weights, widened to float.
template <class SimdType, class Element>
struct WidenedDot {
  using Simd = SimdType;
  using Vector = typename Simd::Vector;
  using A = Element;
  using B = float;
  static constexpr int kDepth = Simd::kWidth;

  static Vector load(const A* p) { return Simd::load(p); }

  static Vector load_b(const B* p) { return Simd::load(p); }

  static Vector load_partial(const A* p, int count) {
    return Simd::load_partial(p, count);
  }

  static Vector load_b_partial(const B* p, int count) {
    return Simd::load_partial(p, count);
  }

  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return Simd::multiply_add(a, b, sum);
  }
};

template <class Step>
struct DotTile {
  const typename Step::A* a;
  std::int64_t lda;
  const typename Step::B* b;
  std::int64_t ldb;
  std::int64_t depth;
  typename Step::Simd::Vector* sums; // [kColumns][kRows]
  bool first;                        // of its chunks: sums hold nothing yet
  // Rows [ahead_from, ahead_to) are prefetched from `ahead`.
  const typename Step::A* ahead;
  int ahead_from;
  int ahead_to;
};

/// Not inlined: among its callers' variables the pointers would not all get
/// registers.
template <class Step, int kRows, int kColumns>
__attribute__((noinline)) void dot_tile(const DotTile<Step>& tile) {
  using Vector = typename Step::Simd::Vector;
  const auto* const a = tile.a;
  const auto* const b = tile.b;
  const std::int64_t lda = tile.lda;
  const std::int64_t ldb = tile.ldb;
  Vector sums[kColumns][kRows];
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      sums[j][r] = tile.first ? Vector{} : tile.sums[j * kRows + r];
    }
  }
  const auto step =
      [&](std::int64_t i, auto load, auto load_b)
          __attribute__((always_inline)) {
            decltype(load(a)) weights[kRows];
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
              weights[r] = load(a + r * lda + i);
            }
#pragma GCC unroll 16
            for (int j = 0; j < kColumns; ++j) {
              const auto column = load_b(b + j * ldb + i);
#pragma GCC unroll 16
              for (int r = 0; r < kRows; ++r) {
                sums[j][r] = Step::multiply_add(weights[r], column, sums[j][r]);
              }
            }
          };
  const auto whole_step = [&](std::int64_t i) __attribute__((always_inline)) {
    step(
        i,
        [](const auto* p) { return Step::load(p); },
        [](const auto* p) { return Step::load_b(p); });
  };
  std::int64_t i = 0;
  if (tile.ahead_from < tile.ahead_to) {
    for (; i + Step::kDepth <= tile.depth; i += Step::kDepth) {
      for (int r = tile.ahead_from; r < tile.ahead_to; ++r) {
        __builtin_prefetch(tile.ahead + r * lda + i);
      }
      whole_step(i);
    }
  } else {
    for (; i + Step::kDepth <= tile.depth; i += Step::kDepth) {
      whole_step(i);
    }
  }
  if (i < tile.depth) {
    const int count = static_cast<int>(tile.depth - i);
    step(
        i,
        [count](const auto* p) { return Step::load_partial(p, count); },
        [count](const auto* p) { return Step::load_b_partial(p, count); });
  }
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      tile.sums[j * kRows + r] = sums[j][r];
    }
  }
}

template <class Step, int kRows, int kColumns>
void dot_tile_of(int columns, const DotTile<Step>& tile) {
  if constexpr (kColumns > 1) {
    if (columns < kColumns) {
      return dot_tile_of<Step, kRows, kColumns - 1>(columns, tile);
    }
  }
  dot_tile<Step, kRows, kColumns>(tile);
}

/// kRows rows from `row` on, all columns; results to panel[n][stride].
template <class Step, int kRows>
void dot_block(
    const SkinnyProduct& product,
    std::int64_t row,
    std::int64_t next_row,
    float* panel,
    int stride) {
  using Simd = typename Step::Simd;
  constexpr int kMaxColumns =
      Simd::kAccumulators / kRows < 8 ? Simd::kAccumulators / kRows : 8;
  constexpr int kChunk = 2048 / sizeof(typename Step::A);
  constexpr int kLookahead = 1024 / sizeof(typename Step::A);
  const int n = product.n;
  const int groups = (n + kMaxColumns - 1) / kMaxColumns;
  const std::int64_t chunk = groups == 1 ? product.k : kChunk;
  const auto* const a = static_cast<const typename Step::A*>(product.a);
  const auto* const b = static_cast<const typename Step::B*>(product.b);

  typename Simd::Vector sums[kRows * kMaxSkinnyColumns + 3];
  DotTile<Step> tile{};
  tile.lda = product.lda;
  tile.ldb = product.ldb;
  for (std::int64_t start = 0; start < product.k; start += chunk) {
    const std::int64_t rest = product.k - start;
    tile.a = a + row * product.lda + start;
    tile.depth = rest < chunk ? rest : chunk;
    tile.first = start == 0;
    tile.ahead = groups == 1    ? tile.a + kLookahead
                 : rest > chunk ? tile.a + chunk
                                : a + next_row * product.lda;
    int column = 0;
    for (int group = 0; group < groups; ++group) {
      const int columns = n / groups + (group < n % groups ? 1 : 0);
      tile.b = b + column * product.ldb + start;
      tile.sums = sums + column * kRows;
      if (product.prefetch) {
        tile.ahead_from = kRows * group / groups;
        tile.ahead_to = kRows * (group + 1) / groups;
      }
      dot_tile_of<Step, kRows, kMaxColumns>(columns, tile);
      column += columns;
    }
  }

  const int results = kRows * n;
  for (int i = results; i % 4 != 0; ++i) {
    sums[i] = typename Simd::Vector{};
  }
  for (int i = 0; i < results; i += 4) {
    float four[4];
    Simd::sum_four(sums + i, four);
    for (int q = i; q < i + 4 && q < results; ++q) {
      panel[q / kRows * stride + q % kRows] = four[q - i];
    }
  }
}

/// As many whole blocks as fit `rows`; returns the rows done.
template <class Step, int kRows>
int dot_blocks(
    const SkinnyProduct& product,
    std::int64_t row,
    int rows,
    float* panel,
    int stride) {
  int done = 0;
  for (; done + kRows <= rows; done += kRows) {
    dot_block<Step, kRows>(
        product, row + done, row + done + kRows, panel + done, stride);
  }
  return done;
}

template <class Step>
void skinny_dot(
    const SkinnyProduct& product, std::int64_t begin, std::int64_t end) {
  constexpr int kPanelRows = 64;
  alignas(64) float panel[kMaxSkinnyColumns * kPanelRows];
  for (std::int64_t row = begin; row < end; row += kPanelRows) {
    const int rows =
        end - row < kPanelRows ? static_cast<int>(end - row) : kPanelRows;
    int done = 0;
    if (product.block == 8) {
      done = dot_blocks<Step, 8>(product, row, rows, panel, kPanelRows);
    } else if (product.block == 4) {
      done = dot_blocks<Step, 4>(product, row, rows, panel, kPanelRows);
    } else if (product.block == 2) {
      done = dot_blocks<Step, 2>(product, row, rows, panel, kPanelRows);
    }
    dot_blocks<Step, 1>(
        product, row + done, rows - done, panel + done, kPanelRows);
    finish_panel<typename Step::Simd, typename Step::A>(
        product, panel, kPanelRows, row, rows);
  }
}

} // namespace
} // namespace tunedops::cpu
