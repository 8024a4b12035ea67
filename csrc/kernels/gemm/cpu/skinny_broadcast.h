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
// Each result is summed in the order of k, a chunk of k by itself first and
// then chunk after chunk: so every config and any number of threads give the
// same bits, and long sums in float do not add ever smaller parts to a large
// one.

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

/// A few values of k, of which a panel of rows is summed up.
struct BroadcastChunk {
  std::int64_t lda;
  std::int64_t ldb;
  std::int64_t depth;
  std::int64_t stride;  // of the panel's columns
  bool first;           // sums hold nothing yet
  bool last;
};

/// Adds to kColumns columns of the panel, in kGroups times kRows rows (a
/// partial tile has one group, of `rows` rows), and prefetches `ahead_groups`
/// groups. dot_tile says why it is not inlined and has these parameters.
template <class Step, int kGroups, int kColumns, bool kPartial>
__attribute__((noinline)) void
broadcast_tile(const BroadcastChunk& chunk, const typename Step::A* a,
               const typename Step::B* b, float* to,
               const typename Step::A* ahead, int ahead_groups, int rows) {
  using Simd = typename Step::Simd;
  using Vector = typename Simd::Vector;
  constexpr int kVectors = kGroups * Step::kVectors;
  const std::int64_t lda = chunk.lda;
  const std::int64_t ldb = chunk.ldb;
  const std::int64_t depth = chunk.depth;
  const std::int64_t stride = chunk.stride;
  Vector sums[kColumns][kVectors] = {};
  const auto step = [&]<bool kLast>(
                        std::int64_t i, int ahead_groups,
                        Truth<kLast>) __attribute__((always_inline)) {
    Vector weights[kVectors];
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
      Step::template load<kPartial, kLast>(a + i * lda + g * Step::kRows, lda,
                                           rows, weights + g * Step::kVectors);
    }
    for (int g = 0; g < ahead_groups; ++g) {
      for (int d = 0; d < Step::kDepth; ++d) {
        __builtin_prefetch(ahead + (i + d) * lda + g * Step::kRows);
      }
    }
    if constexpr (kColumns > 1) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        Simd::keep(weights[v]);
      }
    }
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) {
      const Vector value = Step::template load_b<kLast>(b + j * ldb + i);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        sums[j][v] = Step::multiply_add(weights[v], value, sums[j][v]);
      }
    }
  };
  std::int64_t i = 0;
  if (ahead_groups > 0) {
    for (; i + Step::kDepth <= depth; i += Step::kDepth) {
      step(i, ahead_groups, Truth<false>{});
    }
  } else {
    for (; i + Step::kDepth <= depth; i += Step::kDepth) {
      step(i, 0, Truth<false>{});
    }
  }
  if (Step::kDepth > 1 && i < depth) {
    step(i, 0, Truth<true>{});
  }
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j) {
    if (!chunk.first) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        sums[j][v] += Simd::load(to + j * stride + v * Simd::kWidth);
      }
    }
    if (chunk.last) {
#pragma GCC unroll 16
      for (int g = 0; g < kGroups; ++g) {
        Step::reorder(sums[j] + g * Step::kVectors);
      }
    }
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Simd::store(to + j * stride + v * Simd::kWidth, sums[j][v]);
    }
  }
}

template <class Step, int kGroups, int kColumns, bool kPartial, class... Args>
void broadcast_tile_of(int columns, const Args&... args) {
  if constexpr (kColumns > 1) {
    if (columns < kColumns) {
      return broadcast_tile_of<Step, kGroups, kColumns - 1, kPartial>(columns,
                                                                      args...);
    }
  }
  broadcast_tile<Step, kGroups, kColumns, kPartial>(args...);
}

/// Adds the chunk's products to one strip, all columns.
template <class Step, int kGroups, bool kPartial = false>
void broadcast_strip(const SkinnyProduct& product, const BroadcastChunk& chunk,
                     const typename Step::A* a, const typename Step::B* b,
                     float* sums, int rows = 0) {
  constexpr int kFit = Step::Simd::kAccumulators / (kGroups * Step::kVectors);
  constexpr int kMaxColumns = kFit < 8 ? kFit : 8;
  constexpr int kLookahead = 512 / sizeof(typename Step::A);
  const int n = product.n;
  const int groups = (n + kMaxColumns - 1) / kMaxColumns;
  for (int group = 0; group < groups; ++group) {
    const int width = n / groups + (group < n % groups ? 1 : 0);
    const int from = kGroups * group / groups;
    const int to = kGroups * (group + 1) / groups;
    broadcast_tile_of<Step, kGroups, kMaxColumns, kPartial>(
        width, chunk, a, b, sums, a + from * Step::kRows + kLookahead,
        product.prefetch ? to - from : 0, rows);
    b += width * chunk.ldb;
    sums += width * chunk.stride;
  }
}

/// One panel, a few values of k at a time.
template <class Step, int kGroups>
void broadcast_panel(const SkinnyProduct& product, std::int64_t row,
                     std::int64_t rows, float* sums, std::int64_t stride) {
  constexpr int kChunk = 16;
  for (std::int64_t start = 0; start < product.k; start += kChunk) {
    const std::int64_t rest = product.k - start;
    const BroadcastChunk chunk{
        product.lda, product.ldb, rest < kChunk ? rest : kChunk,
        stride,      start == 0,  rest <= kChunk};
    const auto* const a = static_cast<const typename Step::A*>(product.a) +
                          start * product.lda + row;
    const auto* const b =
        static_cast<const typename Step::B*>(product.b) + start;
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

template <class Step>
void skinny_broadcast(const SkinnyProduct& product, std::int64_t begin,
                      std::int64_t end) {
  constexpr std::int64_t kMaxPanelRows = 4096;
  float* const sums = product.panel;  // shared by all columns
  const std::int64_t fit = kPanelFloats / product.n / 128 * 128;
  const std::int64_t stride = fit < kMaxPanelRows ? fit : kMaxPanelRows;
  for (std::int64_t row = begin; row < end; row += stride) {
    const std::int64_t rows = end - row < stride ? end - row : stride;
    if (product.block == 8) {
      broadcast_panel<Step, 8 / Step::kVectors>(product, row, rows, sums,
                                                stride);
    } else if (product.block == 4) {
      broadcast_panel<Step, 4 / Step::kVectors>(product, row, rows, sums,
                                                stride);
    } else {
      broadcast_panel<Step, 2 / Step::kVectors>(product, row, rows, sums,
                                                stride);
    }
    finish_panel<typename Step::Simd, typename Step::A>(product, sums, stride,
                                                        row, rows);
  }
}

}  // namespace
}  // namespace tunedops::cpu
