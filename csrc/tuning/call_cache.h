#pragma once

// A thread's memory of calls. The op layer writes what it is asked for as a few
// words (sizes, strides, types, flags, copied and not interpreted); equal words
// make equal problems, so a call that was met before costs these words, their
// hash and one comparison, and no problem is worked out.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tuning/plan_cache.h"

namespace tunedops {

/// At most this many words tell a call; an entry then fills two cache lines.
inline constexpr std::size_t kCallWords = 13;

struct CallKey {
  // Not cleared: whoever makes a key says how many words of it there are, and
  // one of the first words tells that too.
  std::array<std::uint64_t, kCallWords> words;

  // Not of the first two words, which seldom differ where the others do not:
  // the comparison tells them apart.
  std::uint64_t hash(std::size_t count) const {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
    // Two chains, since a multiplication takes longer than what feeds it.
    std::uint64_t even = 0;
    std::uint64_t odd = 0;
    for (std::size_t i = 2; i + 1 < count; i += 2) {
      even = (even ^ words[i]) * kFactor;
      odd = (odd ^ words[i + 1]) * kFactor;
    }
    if (count % 2 == 1) {
      even = (even ^ words[count - 1]) * kFactor;
    }
    // The low bits, by which the cache looks, must depend on the high ones.
    const std::uint64_t h = even ^ std::rotl(odd, 32);
    return ((h ^ (h >> 32)) * kFactor) >> 16 | 1;
  }

  // One word after the other: they have just been written as single words, and
  // a wider load would have to wait until that is done.
  bool begins_like(const CallKey& other, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (words[i] != other.words[i]) {
        return false;
      }
    }
    return true;
  }
};

using CallCache = PlanCache<CallKey>;

static_assert(sizeof(CallCache::Entry) == 128);

}  // namespace tunedops
