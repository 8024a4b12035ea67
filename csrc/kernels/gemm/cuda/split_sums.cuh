#pragma once

// The sums of a tile's splits, which are added up by whichever block comes
// last: always in the order of the splits, so that results are the same in
// every run.

#include <cstdint>

#include "kernels/gemm/cuda/last_arrival.cuh"
#include "kernels/gemm/cuda/tile_schedule.h"

namespace tunedops::cuda {

/// Called by the first `kThreads` threads of a block, for which `sync` waits,
/// each with `kCount` sums of its own: `sum(i)` is one of them. Whether this
/// block came last; its sums are those of all splits then.
template <int kCount, int kThreads, class Sum, class Sync>
__device__ bool add_up_splits(const SplitMeeting& meeting, const TileWork& work,
                              int splits, Sum sum, Sync sync) {
  constexpr std::int64_t kFloats = std::int64_t{kCount} * kThreads;
  float* const all =
      meeting.partial + work.place * splits * kFloats + threadIdx.x;
  float* const own = all + work.split * kFloats;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    own[i * kThreads] = sum(i);
  }
  if (!is_last_arrival(meeting.counters + work.place, splits, threadIdx.x == 0,
                       sync)) {
    return false;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    sum(i) = 0;
  }
  for (int split = 0; split < splits; ++split) {
    const float* const part = all + split * kFloats;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum(i) += __ldcg(part + i * kThreads);
    }
  }
  return true;
}

}  // namespace tunedops::cuda
