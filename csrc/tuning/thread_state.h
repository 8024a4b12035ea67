#pragma once

// What is true of a thread and not of the process: whether it is tuning (then
// the products that its measurements run into must be torch's own), and which
// overlay governs it.

#include <cstdint>

namespace tunedops {

struct ThreadState {
  std::uint32_t overlay = 0;  // 0: none
  bool tuning = false;

  static ThreadState& current() {
    static thread_local ThreadState state;
    return state;
  }
};

/// Marks the thread as tuning until it goes out of scope.
class TuningThreadMark {
 public:
  TuningThreadMark() { ThreadState::current().tuning = true; }
  TuningThreadMark(const TuningThreadMark&) = delete;
  TuningThreadMark& operator=(const TuningThreadMark&) = delete;
  ~TuningThreadMark() { ThreadState::current().tuning = false; }
};

}  // namespace tunedops
