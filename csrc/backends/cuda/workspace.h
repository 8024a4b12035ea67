#pragma once

// Scratch memory for eager calls, one block per stream: products on one stream
// run one after the other and may share it, products on two may not. Ours and
// not torch's, whose pools may be those of a graph.

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
