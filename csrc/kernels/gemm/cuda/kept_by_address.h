#pragma once

// What was worked out for an address, kept for addresses that come again, which
// those of weights and of a caching allocator's tensors do.

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace tunedops::cuda {

/// Thread-safe.
template <class T>
class KeptByAddress {
 public:
  std::optional<T> find(const void* address) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(address);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  void keep(const void* address, const T& value) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) {
      known_.clear();
    }
    known_.emplace(address, value);
  }

  /// More than layers that share a plan. When there are more, all are
  /// forgotten; where they never come again, little is lost.
  static constexpr std::size_t kMost = 64;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, T> known_;
};

}  // namespace tunedops::cuda
