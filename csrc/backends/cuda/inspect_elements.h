#pragma once

// Looks at operands on a GPU: what was written where nothing should be, what
// differs from what is expected, what single elements are. Findings are the
// smallest index, so that they do not depend on the order of threads.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "tuning/dtype.h"
#include "tuning/op_definition.h"
#include "tuning/runs.h"

namespace tunedops::cuda {

/// In the GPU's memory; larger than any index while nothing is found, as all
/// bytes 0xff are.
using FirstIndex = unsigned long long;

/// The first byte of `runs` (in bytes) that is no poison.
cudaError_t find_written(const Runs& runs, const void* base, FirstIndex* first,
                         cudaStream_t stream);

/// The first element of `runs` (in elements) that does not agree.
cudaError_t find_disagreement(const Runs& runs, DType dtype, const void* base,
                              const void* expected, Tolerance tolerance,
                              FirstIndex* first, cudaStream_t stream);

/// Copies the elements at `indices` to `values`, one behind the other.
cudaError_t gather_elements(const void* base, std::size_t element_bytes,
                            const std::int64_t* indices, std::size_t count,
                            void* values, cudaStream_t stream);

}  // namespace tunedops::cuda
