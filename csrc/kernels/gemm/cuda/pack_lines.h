#pragma once

// Copies operands whose lines begin anywhere: see packed_lines.h. It costs as
// much as reading and writing them once, and after that the product is an
// aligned one.

#include <cuda_runtime_api.h>

#include "kernels/gemm/cuda/packed_lines.h"

namespace tunedops::cuda {

/// One or two of them by one launch, kMostPackedBytes each at most. A kernel
/// that is launched after it and waits for what it depends on may begin before
/// it ends.
cudaError_t pack_lines(const PackedLines* operands, int count,
                       cudaStream_t stream);

}  // namespace tunedops::cuda
