#pragma once

// What is true of a thread and not of the process: whether its products must be
// torch's own (while it tunes, or inside one of torch's composite functions
// that we call as Default), which overlay governs it, and which calls it knows.

#include <cstdint>
#include <utility>

#include "tuning/call_cache.h"
#include "tuning/plan_cache.h"

namespace tunedops {

/// Every call reads it, so it is plain data: no guard, no constructor.
struct ThreadState {
  std::uint32_t overlay = 0;  // 0: none
  bool originals_only = false;
  const CallCache* calls = nullptr;  // null until the first is remembered

  static ThreadState& current() {
    static thread_local constinit ThreadState state;
    ThreadState* address = &state;
    // The compiler would rather ask the loader again than keep the address.
    asm("" : "+r"(address));
    return *address;
  }
};

/// The thread's caches, which a hit reads through ThreadState only.
class ThreadCaches {
 public:
  ThreadCaches() { ThreadState::current().calls = &calls; }
  ThreadCaches(const ThreadCaches&) = delete;
  ThreadCaches& operator=(const ThreadCaches&) = delete;
  // Products may still come while the thread ends.
  ~ThreadCaches() { ThreadState::current().calls = nullptr; }

  static ThreadCaches& current() {
    static thread_local ThreadCaches caches;
    return caches;
  }

  ProblemCache problems;
  CallCache calls;
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
