#include "tuning/parallel_for.h"

#include <atomic>

namespace tunedops {
namespace {

void serial(std::int64_t count, int, ParallelForBody body,
            const void* context) {
  body(context, 0, count);
}

std::atomic<ParallelForFunction> installed{&serial};

}  // namespace

void install_parallel_for(ParallelForFunction function) {
  installed.store(function, std::memory_order_release);
}

void parallel_for_erased(std::int64_t count, int threads, ParallelForBody body,
                         const void* context) {
  installed.load(std::memory_order_acquire)(count, threads, body, context);
}

}  // namespace tunedops
