#pragma once

// Scratch memory for eager calls, one block for each thread and stream: what
// one thread queues on a stream runs in that order and may share a block. Two
// threads may not, even on one stream, since a product can be more than one
// launch and another thread's may come in between. Ours and not torch's, whose
// pools may be those of a graph.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace tunedops::cuda {

struct Scratch {
  void* workspace = nullptr;     // null if there is not enough memory
  unsigned* counters = nullptr;  // kMostCounters; see Plan::counter_count
};

/// At least `bytes` on the current device, for work on `stream`. Not while the
/// stream is being captured.
Scratch eager_scratch(int device, cudaStream_t stream, std::size_t bytes);

}  // namespace tunedops::cuda
