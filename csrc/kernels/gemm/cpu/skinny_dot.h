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

/// A piece of k, over which a tile sums up.
struct DotChunk {
  std::int64_t lda;
  std::int64_t ldb;
  std::int64_t depth;
  bool first;  // sums hold nothing yet
};

/// Adds to sums[kColumns][kRows], and prefetches `ahead_rows` rows from
/// `ahead`. Not inlined: among its callers' variables not all pointers would
/// get registers. What changes from call to call is passed in registers: a
/// struct would be copied in wider pieces than it was written, and such a load
/// waits until all earlier reads of weights are done.
template <class Step, int kRows, int kColumns>
__attribute__((noinline)) void
dot_tile(const DotChunk& chunk, const typename Step::A* a,
         const typename Step::B* b, typename Step::Simd::Vector* to,
         const typename Step::A* ahead, int ahead_rows) {
  const std::int64_t lda = chunk.lda;
  const std::int64_t ldb = chunk.ldb;
  const std::int64_t depth = chunk.depth;
  typename Step::Simd::Vector sums[kColumns][kRows] = {};
  if (!chunk.first) {
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sums[j][r] = to[j * kRows + r];
      }
    }
  }
  const auto step = [&](std::int64_t i, int ahead_rows, auto load,
                        auto load_b) __attribute__((always_inline)) {
    decltype(load(a)) weights[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      weights[r] = load(a + r * lda + i);
      if constexpr (kColumns > 1) {
        if (kRows * kColumns + r + 2 <= Step::Simd::kRegisters) {
          Step::Simd::keep(weights[r]);
        }
      }
    }
    for (int r = 0; r < ahead_rows; ++r) {
      __builtin_prefetch(ahead + r * lda + i);
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
  const auto load = [](const auto* p) { return Step::load(p); };
  const auto load_b = [](const auto* p) { return Step::load_b(p); };
  std::int64_t i = 0;
  if (ahead_rows > 0) {
    for (; i + Step::kDepth <= depth; i += Step::kDepth) {
      step(i, ahead_rows, load, load_b);
    }
  } else {
    for (; i + Step::kDepth <= depth; i += Step::kDepth) {
      step(i, 0, load, load_b);
    }
  }
  if (i < depth) {
    const int count = static_cast<int>(depth - i);
    step(
        i, 0, [count](const auto* p) { return Step::load_partial(p, count); },
        [count](const auto* p) { return Step::load_b_partial(p, count); });
  }
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      to[j * kRows + r] = sums[j][r];
    }
  }
}

template <class Step, int kRows, int kColumns, class... Args>
void dot_tile_of(int columns, const Args&... args) {
  if constexpr (kColumns > 1) {
    if (columns < kColumns) {
      return dot_tile_of<Step, kRows, kColumns - 1>(columns, args...);
    }
  }
  dot_tile<Step, kRows, kColumns>(args...);
}

/// kRows rows from `row` on, all columns; results to panel[n][stride].
template <class Step, int kRows>
void dot_block(const SkinnyProduct& product, std::int64_t row,
               std::int64_t next_row, float* panel, int stride) {
  using Simd = typename Step::Simd;
  constexpr int kFit = Simd::kAccumulators / kRows;
  constexpr int kMaxColumns = kFit < 8 ? kFit : 8;
  constexpr int kChunk = 2048 / sizeof(typename Step::A);
  constexpr int kLookahead = 1024 / sizeof(typename Step::A);
  const int n = product.n;
  const int groups = (n + kMaxColumns - 1) / kMaxColumns;
  const std::int64_t size = groups == 1 ? product.k : kChunk;
  const std::int64_t lda = product.lda;
  const std::int64_t ldb = product.ldb;
  const auto* const rows = static_cast<const typename Step::A*>(product.a);
  const auto* const columns = static_cast<const typename Step::B*>(product.b);

  typename Simd::Vector sums[kRows * kMaxSkinnyColumns + 3];
  for (std::int64_t start = 0; start < product.k; start += size) {
    const std::int64_t rest = product.k - start;
    const DotChunk chunk{lda, ldb, rest < size ? rest : size, start == 0};
    const auto* const a = rows + row * lda + start;
    const auto* const ahead = groups == 1   ? a + kLookahead
                              : rest > size ? a + size
                                            : rows + next_row * lda;
    int column = 0;
    for (int group = 0; group < groups; ++group) {
      const int width = n / groups + (group < n % groups ? 1 : 0);
      const int from = kRows * group / groups;
      const int to = kRows * (group + 1) / groups;
      dot_tile_of<Step, kRows, kMaxColumns>(
          width, chunk, a, columns + column * ldb + start,
          sums + column * kRows, ahead + from * lda,
          product.prefetch ? to - from : 0);
      column += width;
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
int dot_blocks(const SkinnyProduct& product, std::int64_t row, int rows,
               float* panel, int stride) {
  int done = 0;
  for (; done + kRows <= rows; done += kRows) {
    dot_block<Step, kRows>(product, row + done, row + done + kRows,
                           panel + done, stride);
  }
  return done;
}

template <class Step>
void skinny_dot(const SkinnyProduct& product, std::int64_t begin,
                std::int64_t end) {
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
    dot_blocks<Step, 1>(product, row + done, rows - done, panel + done,
                        kPanelRows);
    finish_panel<typename Step::Simd, typename Step::A>(product, panel,
                                                        kPanelRows, row, rows);
  }
}

}  // namespace
}  // namespace tunedops::cpu
