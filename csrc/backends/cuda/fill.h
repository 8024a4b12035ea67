#pragma once

// Fills device memory with a byte on a stream: how the tuner poisons outputs
// and guard zones on a GPU.

#include <cstddef>

namespace tunedops::cuda {

/// Returns the launch's cudaError_t as an int; 0 is success.
int fill_bytes(void* data, unsigned char value, std::size_t bytes,
               void* stream);

}  // namespace tunedops::cuda
