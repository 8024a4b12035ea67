#pragma once

// Operands in the forms that AMX's tiles are loaded from: runs of 32 ks filled
// up with zeros, or pairs of neighbouring ks, a line of 16 of them side by side
// for each pair.

#include "kernels/gemm/cpu/pairs_avx512bf16.h"
#include "kernels/gemm/cpu/tiled_product.h"
#include "kernels/gemm/cpu/tiles_amx.h"
#include "kernels/gemm/cpu/transpose.h"

namespace tunedops::cpu {
namespace {

inline __m512i load_some_ks(const std::uint16_t* p, std::int64_t count) {
  return count >= 32  ? _mm512_loadu_si512(p)
         : count <= 0 ? _mm512_setzero_si512()
                      : _mm512_maskz_loadu_epi16((1U << count) - 1, p);
}

/// Copies `count` of `lines` runs, `depth` ks of each, to [k / 32][lines][32].
inline void copy_runs(const std::uint16_t* from, std::int64_t ld,
                      std::int64_t count, std::int64_t lines,
                      std::int64_t depth, std::uint16_t* to) {
  for (std::int64_t k = 0; k < depth; k += kTileKs) {
    for (std::int64_t i = 0; i < lines; ++i) {
      _mm512_store_si512(
          to, load_some_ks(from + i * ld + k, i < count ? depth - k : 0));
      to += kTileKs;
    }
  }
}

/// Runs k and k + 1 of 32 elements each as pairs, in the order that
/// Bfloat16Broadcast::reorder knows.
struct InterleavedRuns {
  __m512i low;
  __m512i high;

  InterleavedRuns(const std::uint16_t* p, std::int64_t ld, std::int64_t count,
                  bool has_odd) {
    const __m512i even = load_some_ks(p, count);
    const __m512i odd =
        has_odd ? load_some_ks(p + ld, count) : _mm512_setzero_si512();
    low = _mm512_unpacklo_epi16(even, odd);
    high = _mm512_unpackhi_epi16(even, odd);
  }
};

/// Pairs of `count` of 32 columns, `depth` ks of each that are runs of columns,
/// to two tiles at a time: [tile][k / 2][16], in the order of InterleavedRuns.
inline void interleave_runs(const std::uint16_t* from, std::int64_t ld,
                            std::int64_t count, std::int64_t depth,
                            std::uint16_t* to, std::int64_t second) {
  std::int64_t k = 0;
  for (; k + 1 < depth && count >= 32; k += 2) {
    const InterleavedRuns pair(from + k * ld, ld, 32, true);
    _mm512_store_si512(to, pair.low);
    _mm512_store_si512(to + second, pair.high);
    to += kTileKs;
  }
  for (; k % kTileKs != 0 || k < depth; k += 2) {
    const InterleavedRuns pair(from + k * ld, ld, k < depth ? count : 0,
                               k + 1 < depth);
    _mm512_store_si512(to, pair.low);
    _mm512_store_si512(to + second, pair.high);
    to += kTileKs;
  }
}

/// 16 lines of 16 pairs from 16 runs of 32 ks, and back.
inline void transpose_pairs(__m512i (&lines)[16]) {
  __m512 block[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    block[i] = _mm512_castsi512_ps(lines[i]);
  }
  transpose(block);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    lines[i] = _mm512_castps_si512(block[i]);
  }
}

/// b with its ks contiguous to panels of 16 columns: [n / 16][k / 2][16] pairs.
inline void pair_columns(const TurnedColumns& columns, std::int64_t begin,
                         std::int64_t end) {
  for (std::int64_t j = 0; j < columns.n; j += kTileLines) {
    const auto* const from =
        static_cast<const std::uint16_t*>(columns.b) + j * columns.ldb;
    auto* const to = static_cast<std::uint16_t*>(columns.to) + j * columns.ld;
    const std::int64_t count = columns.n - j;
    for (std::int64_t k = begin; k < end; k += kTileKs) {
      __m512i lines[kTileLines];
      if (count >= kTileLines && k + kTileKs <= end) {
#pragma GCC unroll 16
        for (int i = 0; i < kTileLines; ++i) {
          lines[i] = _mm512_loadu_si512(from + i * columns.ldb + k);
        }
      } else {
        for (int i = 0; i < kTileLines; ++i) {
          lines[i] =
              load_some_ks(from + i * columns.ldb + k, i < count ? end - k : 0);
        }
      }
      transpose_pairs(lines);
#pragma GCC unroll 16
      for (int i = 0; i < kTileLines; ++i) {
        _mm512_store_si512(to + k * kTileLines + i * kTileKs, lines[i]);
      }
    }
  }
}

/// The same of b with its columns contiguous.
inline void pair_rows(const TurnedColumns& columns, std::int64_t begin,
                      std::int64_t end) {
  for (std::int64_t j = 0; j < columns.n; j += kBlock) {
    const std::int64_t count = columns.n - j < kBlock ? columns.n - j : kBlock;
    const auto* const from = static_cast<const std::uint16_t*>(columns.b) + j;
    auto* const to = static_cast<std::uint16_t*>(columns.to) + j * columns.ld;
    for (std::int64_t k = begin; k < end || k % kTileKs != 0; k += 2) {
      const InterleavedRuns pair(from + k * columns.ldb, columns.ldb,
                                 k < end ? count : 0, k + 1 < end);
      __m512 lines[2] = {_mm512_castsi512_ps(pair.low),
                         _mm512_castsi512_ps(pair.high)};
      Bfloat16Broadcast::reorder(lines);
      _mm512_store_ps(to + k * kTileLines, lines[0]);
      if (count > kTileLines) {
        _mm512_store_ps(to + (columns.ld + k) * kTileLines, lines[1]);
      }
    }
  }
}

/// b with its ks contiguous to panels of 16 columns: [n / 16][k / 32][16][32].
inline void run_columns(const TurnedColumns& columns, std::int64_t begin,
                        std::int64_t end) {
  for (std::int64_t j = 0; j < columns.n; j += kTileLines) {
    copy_runs(static_cast<const std::uint16_t*>(columns.b) + j * columns.ldb +
                  begin,
              columns.ldb, columns.n - j, kTileLines, end - begin,
              static_cast<std::uint16_t*>(columns.to) + j * columns.ld +
                  begin * kTileLines);
  }
}

/// The same of b with its columns contiguous.
inline void run_rows(const TurnedColumns& columns, std::int64_t begin,
                     std::int64_t end) {
  for (std::int64_t j = 0; j < columns.n; j += kBlock) {
    const std::int64_t count = columns.n - j < kBlock ? columns.n - j : kBlock;
    const auto* const from = static_cast<const std::uint16_t*>(columns.b) + j;
    auto* const panel =
        static_cast<std::uint16_t*>(columns.to) + j * columns.ld;
    for (std::int64_t k = begin; k < end; k += kTileKs) {
      __m512i low[kTileLines];
      __m512i high[kTileLines];
      for (int i = 0; i < kTileLines; ++i) {
        const std::int64_t at = k + 2 * i;
        const InterleavedRuns pair(from + at * columns.ldb, columns.ldb,
                                   at < end ? count : 0, at + 1 < end);
        low[i] = pair.low;
        high[i] = pair.high;
      }
      transpose_pairs(low);
      transpose_pairs(high);
      // Four neighbours in one, and the next four in the other.
      for (int i = 0; i < kTileLines; ++i) {
        const int column = i / 4 * 8 + i % 4;
        const bool is_second = column >= kTileLines;
        if (is_second && count <= kTileLines) {
          break;
        }
        auto* const to = panel + (is_second ? kTileLines * columns.ld : 0) +
                         k * kTileLines + column % kTileLines * kTileKs;
        _mm512_store_si512(to, low[i]);
        _mm512_store_si512(to + 4 * kTileKs, high[i]);
      }
    }
  }
}

}  // namespace
}  // namespace tunedops::cpu
