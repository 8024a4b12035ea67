#pragma once

// Blocks of sums on their way from AMX's tiles to memory, a piece at a time:
// the tiles multiply the next block meanwhile.

#include "kernels/gemm/cpu/pairs_avx512bf16.h"
#include "kernels/gemm/cpu/skinny_finish.h"
#include "kernels/gemm/cpu/tiled_product.h"
#include "kernels/gemm/cpu/tiles_amx.h"
#include "kernels/gemm/cpu/transpose.h"

namespace tunedops::cpu {
namespace {

/// Rounds with the processor's instruction, except denormals, of which that
/// makes zeros.
struct SimdAmx : SimdAvx512 {
  using SimdAvx512::store;
  using SimdAvx512::store_partial;

  static void store(std::uint16_t* p, Vector x) {
    if (has_denormals(x)) {
      SimdAvx512::store(p, x);
      return;
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), rounded(x));
  }

  static void store_partial(std::uint16_t* p, Vector x, int count) {
    if (has_denormals(x)) {
      SimdAvx512::store_partial(p, x, count);
      return;
    }
    _mm256_mask_storeu_epi16(p, first(count), rounded(x));
  }

 private:
  static bool has_denormals(Vector x) {
    constexpr int kDenormal = 0x20;
    return _mm512_fpclass_ps_mask(x, kDenormal) != 0;
  }

  static __m256i rounded(Vector x) {
    return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));
  }
};

/// A block that has left the tiles: [tile of runs][tile of pairs][16][16].
struct FinishedBlock {
  const Tile* tile = nullptr;
  const float* sums = nullptr;
  std::int64_t row = 0;  // within the tile
  std::int64_t column = 0;
  int rows = 0;
  int columns = 0;

  /// Of 32 rows that are sums as they are, or with a bias.
  bool is_simple() const {
    const SkinnyProduct& product = tile->product;
    return rows == kBlock && tile->partial == nullptr &&
           product.alpha == 1.0F && product.beta == 0.0F &&
           !product.bias_is_float && product.activation == Activation::kNone;
  }

  std::uint16_t* out(int j) const {
    return static_cast<std::uint16_t*>(tile->product.out) +
           (column + j) * tile->product.ldc + tile->row + row;
  }

  void finish_simply(int j, const __m512 (&sums_of_rows)[2]) const {
    const auto* const bias =
        static_cast<const std::uint16_t*>(tile->product.bias);
    std::uint16_t* const to = out(j);
    if (bias == nullptr) {
      SimdAmx::store(to, sums_of_rows[0]);
      SimdAmx::store(to + 16, sums_of_rows[1]);
      return;
    }
    const std::int64_t first = tile->row + row;
    SimdAmx::store(to, sums_of_rows[0] + SimdAmx::load(bias + first));
    SimdAmx::store(to + 16, sums_of_rows[1] + SimdAmx::load(bias + first + 16));
  }

  /// Not inlined, since its vectors would push out what multiplies.
  __attribute__((noinline)) void finish(int j, __m512 low, __m512 high) const {
    if (tile->partial != nullptr) {
      float* const to = tile->partial + (column + j) * tile->stride + row;
      _mm512_store_ps(to, low);
      _mm512_store_ps(to + 16, high);
      return;
    }
    const std::int64_t first = tile->row + row;
    finish_vector<SimdAmx>(tile->product, low, first, rows < 16 ? rows : 16,
                           out(j));
    if (rows > 16) {
      finish_vector<SimdAmx>(tile->product, high, first + 16, rows - 16,
                             out(j) + 16);
    }
  }
};

/// Blocks whose columns are the runs, and their rows in the order of
/// InterleavedRuns. A piece is a column.
struct ColumnsAreRuns {
  static int pieces(const FinishedBlock& block) { return block.columns; }

  /// Sums of 32 rows, if the piece is a column.
  static bool prepare(const FinishedBlock& block, int j, float*, int* column,
                      __m512 (&rows)[2]) {
    const float* const from = block.sums + j / 16 * 512 + j % 16 * 16;
    rows[0] = _mm512_load_ps(from);
    rows[1] = _mm512_load_ps(from + 256);
    Bfloat16Broadcast::reorder(rows);
    *column = j;
    return true;
  }
};

/// Blocks whose rows are the runs. A piece is a tile to turn over, and then a
/// column.
struct RowsAreRuns {
  static int pieces(const FinishedBlock& block) {
    return tiles(block) + block.columns;
  }

  static bool prepare(const FinishedBlock& block, int piece, float* turned,
                      int* column, __m512 (&rows)[2]) {
    const int j = piece - tiles(block);
    if (j < 0) {
      turn(block.sums + piece % 2 * 512 + piece / 2 * 256,
           turned + piece / 2 * 512 + piece % 2 * 16);
      return false;
    }
    rows[0] = _mm512_load_ps(turned + j * 32);
    rows[1] = _mm512_load_ps(turned + j * 32 + 16);
    *column = j;
    return true;
  }

 private:
  static int tiles(const FinishedBlock& block) {
    return block.columns > 16 ? 4 : 2;
  }

  /// Not inlined, for the same reason.
  __attribute__((noinline)) static void turn(const float* from, float* to) {
    __m512 lines[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      lines[i] = _mm512_load_ps(from + i * 16);
    }
    transpose(lines);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      _mm512_store_ps(to + i * 32, lines[i]);
    }
  }
};

/// The block that is being finished, while the next is multiplied.
template <class Order>
class Finishing {
 public:
  /// `memory` of a block.
  explicit Finishing(float* memory) : memory_(memory) {}

  ~Finishing() { finish(left()); }

  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;

  void begin(const FinishedBlock& block) {
    finish(left());
    block_ = block;
    is_simple_ = block.is_simple();
    next_ = 0;
    pieces_ = Order::pieces(block);
  }

  int left() const { return pieces_ - next_; }

  void finish(int count) {
    for (; count > 0; --count) {
      finish_one();
    }
  }

  void finish_one() {
    int column;
    __m512 rows[2];
    if (Order::prepare(block_, next_++, memory_, &column, rows)) {
      if (is_simple_) {
        block_.finish_simply(column, rows);
      } else {
        block_.finish(column, rows[0], rows[1]);
      }
    }
  }

 private:
  float* memory_;
  FinishedBlock block_;
  bool is_simple_ = false;
  int next_ = 0;
  int pieces_ = 0;
};

}  // namespace
}  // namespace tunedops::cpu
