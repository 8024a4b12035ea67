#pragma once

// The per-thread memory of decisions, which makes a hit cheap: no lock, no
// string, no shared cache line that is written. A global epoch, raised whenever
// a decision could change, invalidates all threads' caches at once.

#include <cstdint>
#include <vector>

#include "tuning/plan.h"
#include "tuning/problem_key.h"

namespace tunedops {

class PlanCache {
 public:
  struct Entry {
    ProblemKey key;
    std::uint64_t hash = 0;  // 0: the slot is free
    std::uint32_t overlay = 0;
    std::uint32_t note = 0;      // of whoever made the key
    const Plan* plan = nullptr;  // null: Default
  };

  static PlanCache& of_this_thread() {
    static thread_local PlanCache cache;
    return cache;
  }

  std::uint64_t epoch() const { return epoch_; }

  /// Null if the decision is not known.
  const Entry* find(const ProblemKey& key, std::uint64_t hash,
                    std::uint32_t overlay) const {
    if (slots_.empty()) {
      return nullptr;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = first_slot(hash);; ++i) {
      i &= mask;
      const Entry& entry = slots_[i];
      if (entry.hash == 0) {
        return nullptr;
      }
      if (entry.hash == hash && entry.overlay == overlay && entry.key == key) {
        return &entry;
      }
    }
  }

  void insert(const ProblemKey& key, std::uint64_t hash, std::uint32_t overlay,
              const Plan* plan, std::uint64_t epoch, std::uint32_t note = 0) {
    if (epoch_ != epoch || count_ >= kMaxEntries) {
      slots_.clear();
      count_ = 0;
      epoch_ = epoch;
    }
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
    }
    place({key, hash, overlay, note, plan});
    ++count_;
  }

  /// The hash that `find` and `insert` want: never 0.
  static std::uint64_t hash_of(const ProblemKey& key) { return key.hash() | 1; }

 private:
  // Enough for any program with a bounded set of shapes; one whose shapes never
  // repeat must not grow without bound.
  static constexpr std::size_t kMaxEntries = 1 << 16;

  // The lowest bit is always set.
  static std::size_t first_slot(std::uint64_t hash) { return hash >> 1; }

  void place(const Entry& entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = first_slot(entry.hash) & mask;
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

}  // namespace tunedops
