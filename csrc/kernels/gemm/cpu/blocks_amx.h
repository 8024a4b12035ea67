#pragma once

// Blocks of 32 x 32 of a tile of a product, one after the other. While the
// tiles multiply one, the vector units finish the one before and ask for what
// comes next.

#include "kernels/gemm/cpu/finish_amx.h"
#include "kernels/gemm/cpu/tiled_product.h"
#include "kernels/gemm/cpu/tiles_amx.h"

#include <type_traits>

namespace tunedops::cpu {
namespace {

/// Where things are in the scratch memory of a tile.
struct Scratch {
  explicit Scratch(const Tile& tile)
      : blocks(tile.scratch), turned(blocks + 2 * kBlock * kBlock),
        strip(reinterpret_cast<std::uint16_t*>(turned + kBlock * kBlock)),
        tail(strip + kBlock * kAmxDepth),
        sums(reinterpret_cast<float*>(tail + kBlock * kTileKs)) {}

  float* blocks;         // two, as they leave the tile registers
  float* turned;         // of the block that is being finished
  std::uint16_t* strip;  // of a, as pairs or filled up
  std::uint16_t* tail;   // the last ks of the strip, filled up
  float* sums;           // of all blocks, between parts of k
};

/// A part of k in the middle of a tile.
struct Part {
  std::int64_t begin;
  std::int64_t depth;
  bool first;
  bool last;

  std::int64_t whole_steps() const { return depth / kTileKs; }
  std::int64_t tail() const { return depth % kTileKs; }
};

/// What of a is needed next, 32 lines for each step along k. In bytes.
struct Ahead {
  const char* data;
  std::int64_t line;
  std::int64_t step;
};

/// Runs of k, so many steps as they lie if all lines of their tiles exist.
struct Runs {
  BlockSide whole;
  std::int64_t steps = 0;
  BlockSide tail;  // one step more; null: none
};

/// A tile of a product, block after block.
template <class Order>
class Blocks {
 public:
  Blocks(const Tile& tile, const Scratch& scratch)
      : tile_(tile), scratch_(scratch),
        across_((tile.product.n + kBlock - 1) / kBlock),
        finishing_(scratch.turned) {}

  /// Rows from `i` on and columns from `j` on, within the tile.
  void multiply(const Part& part, std::int64_t i, std::int64_t j,
                const Runs& runs, const BlockSide& pairs, const Ahead& ahead) {
    const auto columns = less_of(kBlock, tile_.product.n - j);
    const auto rows = less_of(kBlock, tile_.rows - i);
    constexpr bool kColumnsAreRuns = std::is_same_v<Order, ColumnsAreRuns>;
    const bool two_runs = (kColumnsAreRuns ? columns : rows) > kTileLines;
    const bool two_pairs = kColumnsAreRuns || columns > kTileLines;
    float* const sums =
        scratch_.sums + (i / kBlock * across_ + j / kBlock) * kBlock * kBlock;
    const float* const before = part.first ? nullptr : sums;
    float* const to = part.last ? block_memory() : sums;
    const auto add = [&]<int kRuns, int kPairs>() {
      add_block<kRuns, kPairs>(j / kBlock, runs, pairs, ahead, before, to);
    };
    if (two_runs && two_pairs) {
      add.template operator()<2, 2>();
    } else if (two_runs) {
      add.template operator()<2, 1>();
    } else if (two_pairs) {
      add.template operator()<1, 2>();
    } else {
      add.template operator()<1, 1>();
    }
    if (part.last) {
      finishing_.begin({&tile_, to, i, j, static_cast<int>(rows),
                        static_cast<int>(columns)});
    }
  }

 private:
  float* block_memory() {
    is_second_ = !is_second_;
    return scratch_.blocks + (is_second_ ? kBlock * kBlock : 0);
  }

  template <int kRuns, int kPairs>
  void add_block(std::int64_t column, const Runs& runs, const BlockSide& pairs,
                 const Ahead& ahead, const float* before, float* to) {
    const std::int64_t first = kBlock * column / across_;
    const std::int64_t last = kBlock * (column + 1) / across_;
    const std::int64_t pieces = finishing_.left();
    std::int64_t due = 0;  // in pieces times steps
    publish_to_tiles();
    load_block<kRuns, kPairs>(before);
    multiply_block<kRuns, kPairs>(
        runs.whole, pairs, runs.steps, [&](std::int64_t step) {
          const char* line =
              ahead.data + step * ahead.step + first * ahead.line;
          for (auto l = first; l < last; ++l) {
            _mm_prefetch(line, _MM_HINT_T1);
            line += ahead.line;
          }
          for (due += pieces; due >= runs.steps; due -= runs.steps) {
            finishing_.finish_one();
          }
        });
    if (runs.tail.data != nullptr) {
      multiply_block<kRuns, kPairs>(runs.tail, pairs.after(runs.steps), 1,
                                    [](std::int64_t) {});
    }
    store_block<kRuns, kPairs>(to);
  }

  const Tile& tile_;
  const Scratch& scratch_;
  std::int64_t across_;  // blocks
  bool is_second_ = false;
  Finishing<Order> finishing_;
};

}  // namespace
}  // namespace tunedops::cpu
