#pragma once

// Writes the normal numbers of normal_data.h into operands on a GPU.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "tuning/runs.h"

namespace tunedops::cuda {

/// `runs` are in elements of `element_bytes` (2, 4, 8 or 16). `table` is
/// normal_table() of their type in the GPU's memory.
cudaError_t write_normals(const Runs& runs, void* base,
                          std::size_t element_bytes, const void* table,
                          std::uint64_t seed, cudaStream_t stream);

}  // namespace tunedops::cuda
