#pragma once

// What is true of a thread and not of the process: whether its products must be
// torch's own (while it tunes, or inside one of torch's composite functions
// that we call as Default), and which overlay governs it.

#include <cstdint>
#include <utility>

namespace tunedops {

struct ThreadState {
  std::uint32_t overlay = 0;  // 0: none
  bool originals_only = false;

  static ThreadState& current() {
    static thread_local ThreadState state;
    return state;
  }
};

/// The thread's products are torch's own until it goes out of scope.
class OriginalsOnly {
 public:
  OriginalsOnly()
      : before_(std::exchange(ThreadState::current().originals_only, true)) {}
  OriginalsOnly(const OriginalsOnly&) = delete;
  OriginalsOnly& operator=(const OriginalsOnly&) = delete;
  ~OriginalsOnly() { ThreadState::current().originals_only = before_; }

 private:
  bool before_;
};

}  // namespace tunedops
