#pragma once

// Where the blocks of a kernel land on a GPU depends on who ran before, and
// stays the same while one kernel is launched again and again. Some kernels of
// cuBLAS have two speeds by that, a tenth apart, so the same one can be slow in
// all readings of one run and fast in those of the next. In a program other
// kernels come between, which end in no order. So does this one, of no other
// effect: behind it a reading shows what a program may see.

#include <cuda_runtime_api.h>

namespace tunedops::cuda {

/// Takes some microseconds. Another `seed` leaves the GPU in another state.
cudaError_t scatter_blocks(int multiprocessors, unsigned seed,
                           cudaStream_t stream);

}  // namespace tunedops::cuda
