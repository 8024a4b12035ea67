#pragma once

// How a CPU kernel gets threads. Kernels must run on torch's pool (a second
// pool would fight it for cores), but may not include Torch; so the op layer
// installs torch's parallel_for here, and the tests a plain one.

#include <cstdint>

#include "tuning/visibility.h"

namespace tunedops {

/// Calls `body(context, begin, end)` on disjoint pieces of [0, count), on at
/// most `threads` threads, and returns when all are done.
using ParallelForBody = void (*)(const void* context, std::int64_t begin,
                                 std::int64_t end);
using ParallelForFunction = void (*)(std::int64_t count, int threads,
                                     ParallelForBody body, const void* context);

/// Installed once, before the first kernel runs; serial until then.
void install_parallel_for(ParallelForFunction function);
TUNEDOPS_PUBLIC void parallel_for_erased(std::int64_t count, int threads,
                                         ParallelForBody body,
                                         const void* context);

/// `body(begin, end)` over pieces of [0, count). With one piece it runs on the
/// calling thread without any synchronisation.
template <class Body>
void parallel_for(std::int64_t count, int threads, const Body& body) {
  if (count <= 1 || threads <= 1) {
    if (count > 0) {
      body(std::int64_t{0}, count);
    }
    return;
  }
  parallel_for_erased(
      count, threads,
      [](const void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<const Body*>(context))(begin, end);
      },
      &body);
}

}  // namespace tunedops
