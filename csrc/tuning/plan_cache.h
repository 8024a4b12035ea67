#pragma once

// A thread's memory of decisions, which makes a hit cheap: no lock, no string,
// no shared cache line that is written. A global epoch, raised whenever a
// decision could change, invalidates all threads' caches at once.
//
// There are two of them, of different keys: problems (below), and the calls
// that lead to problems (call_cache.h).

#include <cstdint>
#include <vector>

#include "tuning/plan.h"
#include "tuning/problem_key.h"

namespace tunedops {

template <class Key>
class PlanCache {
 public:
  struct Entry {
    std::uint64_t hash = 0;      // 0: the slot is free
    const Plan* plan = nullptr;  // null: Default
    std::uint32_t overlay = 0;
    std::uint32_t note = 0;  // of whoever made the key
    Key key;
  };

  std::uint64_t epoch() const { return epoch_; }

  /// Null if the decision is not known. `is_equal` compares with a key of the
  /// same hash and overlay.
  template <class IsEqual>
  const Entry* find(std::uint64_t hash, std::uint32_t overlay,
                    const IsEqual& is_equal) const {
    if (slots_.empty()) [[unlikely]] {
      return nullptr;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = first_slot(hash, overlay);; ++i) {
      i &= mask;
      const Entry& entry = slots_[i];
      if (entry.hash == hash && entry.overlay == overlay && is_equal(entry.key))
          [[likely]] {
        return &entry;
      }
      if (entry.hash == 0) {
        return nullptr;
      }
    }
  }

  const Entry* find(const Key& key, std::uint64_t hash,
                    std::uint32_t overlay) const {
    return find(hash, overlay,
                [&key](const Key& other) { return key == other; });
  }

  void insert(const Key& key, std::uint64_t hash, std::uint32_t overlay,
              const Plan* plan, std::uint64_t epoch, std::uint32_t note = 0) {
    if (epoch_ != epoch || count_ >= kMaxEntries) {
      slots_.clear();
      count_ = 0;
      epoch_ = epoch;
    }
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
    }
    place({hash, plan, overlay, note, key});
    ++count_;
  }

  /// The hash that `find` and `insert` want: never 0.
  static std::uint64_t hash_of(const Key& key) { return key.hash() | 1; }

 private:
  // Enough for any program with a bounded set of shapes; one whose shapes never
  // repeat must not grow without bound.
  static constexpr std::size_t kMaxEntries = 1 << 16;

  // The lowest bit is always set. One problem may have been met under any
  // number of overlays.
  static std::size_t first_slot(std::uint64_t hash, std::uint32_t overlay) {
    return (hash >> 1) + overlay;
  }

  void place(const Entry& entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = first_slot(entry.hash, entry.overlay) & mask;
    while (slots_[i].hash != 0) {
      i = (i + 1) & mask;
    }
    slots_[i] = entry;
  }

  void grow() {
    std::vector<Entry> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Entry& entry : old) {
      if (entry.hash != 0) {
        place(entry);
      }
    }
  }

  std::vector<Entry> slots_;
  std::size_t count_ = 0;
  std::uint64_t epoch_ = 0;
};

/// Decisions by problem: the first question after a call that is not known.
using ProblemCache = PlanCache<ProblemKey>;

}  // namespace tunedops
