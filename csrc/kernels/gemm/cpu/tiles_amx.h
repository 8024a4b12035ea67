#pragma once

// AMX's eight tile registers as a matrix product uses them: four sums of
// 16 x 16 floats, two tiles of one operand, and two of the other, so that each
// tile that is loaded is multiplied twice. A multiplication takes 16 cycles,
// and a load eight, from the first-level cache.
//
// An instruction multiplies 16 runs of 32 consecutive ks with pairs of ks of 16
// others, and adds up in floats. It takes denormals for zero.

#include <immintrin.h>

#include <cstdint>

namespace tunedops::cpu {
namespace {

// Not std::min: what is compiled for AMX may share no function with the rest.
inline std::int64_t less_of(std::int64_t left, std::int64_t right) {
  return left < right ? left : right;
}

inline constexpr int kTileLines = 16;  // of a tile register, of 64 bytes
inline constexpr int kTileKs = 32;     // that one instruction multiplies
inline constexpr int kBlock = 2 * kTileLines;  // rows and columns of a block

/// All tiles whole: what is smaller is filled up with zeros in memory.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t line_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t lines[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

// In memory from the start: GCC's intrinsic does not say that it reads all.
constinit const TileConfiguration kWholeTiles{};

inline void configure_tiles() { _tile_loadconfig(&kWholeTiles); }

/// After which a switch of threads has no tiles to save.
inline void release_tiles() { _tile_release(); }

/// One operand of a block: up to two tiles, and how they go on along k. In
/// elements of 16 bits.
struct BlockSide {
  const std::uint16_t* data = nullptr;
  std::int64_t line = kTileKs;  // from a line of a tile to the next
  std::int64_t second = 0;      // from the first tile to the second
  std::int64_t step = 0;        // to the next 32 ks

  BlockSide after(std::int64_t steps) const {
    return {data + steps * step, line, second, step};
  }
};

/// Puts sums into the tiles: zeros, or what store_block wrote.
template <int kRuns, int kPairs>
void load_block(const float* from) {
  constexpr std::int64_t kLine = 64;
  if (from == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    return;
  }
  _tile_loadd(0, from, kLine);
  if constexpr (kPairs > 1) {
    _tile_loadd(1, from + 256, kLine);
  }
  if constexpr (kRuns > 1) {
    _tile_loadd(2, from + 512, kLine);
  }
  if constexpr (kRuns > 1 && kPairs > 1) {
    _tile_loadd(3, from + 768, kLine);
  }
}

/// [tile of runs][tile of pairs][16 runs][16 pairs]
template <int kRuns, int kPairs>
void store_block(float* to) {
  constexpr std::int64_t kLine = 64;
  _tile_stored(0, to, kLine);
  if constexpr (kPairs > 1) {
    _tile_stored(1, to + 256, kLine);
  }
  if constexpr (kRuns > 1) {
    _tile_stored(2, to + 512, kLine);
  }
  if constexpr (kRuns > 1 && kPairs > 1) {
    _tile_stored(3, to + 768, kLine);
  }
}

/// Adds so many times 32 ks to the sums in the tiles. `between(i)` is called
/// after each: other work, which the processor does while it multiplies.
template <int kRuns, int kPairs, class Between>
void multiply_block(const BlockSide& runs, const BlockSide& pairs,
                    std::int64_t steps, const Between& between) {
  const std::uint16_t* run = runs.data;
  const std::uint16_t* pair = pairs.data;
  const std::int64_t run_line = runs.line * 2;
  const std::int64_t pair_line = pairs.line * 2;
  for (std::int64_t i = 0; i < steps; ++i) {
    _tile_loadd(4, run, run_line);
    if constexpr (kRuns > 1) {
      _tile_loadd(5, run + runs.second, run_line);
    }
    _tile_loadd(6, pair, pair_line);
    if constexpr (kPairs > 1) {
      _tile_loadd(7, pair + pairs.second, pair_line);
    }
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kPairs > 1) {
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kRuns > 1) {
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kRuns > 1 && kPairs > 1) {
      _tile_dpbf16ps(3, 5, 7);
    }
    between(i);
    run += runs.step;
    pair += pairs.step;
  }
}

/// What was written to memory is there for the tiles: GCC's intrinsics do not
/// say that they read it.
inline void publish_to_tiles() { asm volatile("" ::: "memory"); }

}  // namespace
}  // namespace tunedops::cpu
