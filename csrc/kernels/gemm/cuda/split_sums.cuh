#pragma once

// The sums of a tile's splits, which are added up by whichever block comes
// last: always in the order of the splits, so that results are the same in
// every run.

#include <cstdint>

#include "kernels/gemm/cuda/last_arrival.cuh"
#include "kernels/gemm/cuda/tile_schedule.h"

namespace tunedops::cuda {

/// Called by the first `kThreads` threads of a block, for which `sync` waits,
/// each with `kCount` sums of its own: `sum(i)` is one of them. `counter`: of
/// this tile. Whether this block came last; its sums are those of all splits
/// then.
template <int kCount, int kThreads, class Sum, class Sync>
__device__ bool add_up_splits(const SplitMeeting& meeting, int counter,
                              const TileSplits& splits, Sum sum, Sync sync) {
  const auto sums_of = [&](int split) {
    return meeting.partial +
           std::int64_t{kCount} * kThreads * splits.place(split) + threadIdx.x;
  };
  unsigned* const arrivals = meeting.counters + counter;
  // The first of them need not read its own, but what is added is the same: to
  // 0, which makes -0 another 0.
  int next = 1;
  if (splits.own > 0 || !splits.first_comes_last ||
      !have_others_arrived(arrivals, splits.count, threadIdx.x == 0, sync)) {
    float* const own = sums_of(splits.own);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      own[i * kThreads] = sum(i);
    }
    if (!is_last_arrival(arrivals, splits.count, threadIdx.x == 0, sync)) {
      return false;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum(i) = 0;
    }
    next = 0;
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum(i) += 0.0F;
    }
  }
  for (int split = next; split < splits.count; ++split) {
    const float* const part = sums_of(split);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum(i) += __ldcg(part + i * kThreads);
    }
  }
  return true;
}

}  // namespace tunedops::cuda
