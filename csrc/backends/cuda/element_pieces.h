#pragma once

// Runs of elements cut at the multiples of 16 bytes in memory, so that a GPU's
// threads read and write whole aligned words wherever runs begin and however
// long they are. No CUDA in here: a test on the host walks through all pieces.

#include <cstdint>

#include "tuning/runs.h"

namespace tunedops::cuda {

/// Elements [begin, end) behind the base; none if `begin == end`.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_word = false;  // all 16 bytes of an aligned word
};

/// Of elements of `size` bytes; pieces of a run follow each other in memory.
template <std::int64_t size>
struct ElementPieces {
  static constexpr std::int64_t kWord = 16;
  static constexpr std::int64_t kPerWord = kWord / size;

  constexpr ElementPieces(const Runs& r, std::uintptr_t address)
      : runs(r), base(address),
        per_run(r.length == 0 ? 0 : (r.length + 2 * kPerWord - 2) / kPerWord) {}

  constexpr std::int64_t count() const { return runs.count() * per_run; }

  constexpr Piece at(std::int64_t piece) const {
    const std::int64_t start = runs.start(piece / per_run);
    const std::uintptr_t address =
        base + static_cast<std::uintptr_t>(start * size);
    // How many elements of the word where the run begins lie before it.
    const auto before = static_cast<std::int64_t>(address % kWord) / size;
    const std::int64_t first = piece % per_run * kPerWord - before;
    const std::int64_t last = first + kPerWord;
    const std::int64_t begin = first < 0 ? 0 : first;
    const std::int64_t end = last < runs.length ? last : runs.length;
    return {.begin = start + begin,
            .end = start + (end < begin ? begin : end),
            .is_word = base % size == 0 && end - begin == kPerWord};
  }

  Runs runs;
  std::uintptr_t base;
  std::int64_t per_run;
};

}  // namespace tunedops::cuda
