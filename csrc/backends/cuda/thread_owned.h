#pragma once

// Things that a call needs for itself while it runs (a library's handle,
// scratch memory): two threads must not share them, and a program that starts
// threads again and again must not make new ones each time. Each thread has its
// own, and leaves them to later ones when it ends.

#include <map>
#include <mutex>
#include <utility>

namespace tunedops::cuda {

template <class Key, class Value>
class ThreadOwned {
 public:
  /// This thread's value of the key, as it was left by a thread that ended, or
  /// an empty one.
  static Value& of_this_thread(const Key& key) {
    static thread_local Local local;
    const auto [found, is_new] = local.values.try_emplace(key);
    if (is_new) {
      found->second = take(key);
    }
    return found->second;
  }

 private:
  struct Local {
    ~Local() {
      Shared& shared = idle();
      const std::lock_guard lock(shared.mutex);
      for (auto& [key, value] : values) {
        shared.values.emplace(key, std::move(value));
      }
    }
    std::map<Key, Value> values;
  };

  struct Shared {
    std::mutex mutex;
    std::multimap<Key, Value> values;
  };

  // Never destroyed: at the end of the process the driver may be gone.
  static Shared& idle() {
    static auto& shared = *new Shared;
    return shared;
  }

  static Value take(const Key& key) {
    Shared& shared = idle();
    const std::lock_guard lock(shared.mutex);
    const auto found = shared.values.find(key);
    if (found == shared.values.end()) {
      return Value();
    }
    Value value = std::move(found->second);
    shared.values.erase(found);
    return value;
  }
};

}  // namespace tunedops::cuda
