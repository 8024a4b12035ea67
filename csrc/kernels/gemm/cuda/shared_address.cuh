#pragma once

// Addresses in shared memory as instructions take them that reach no other.

namespace tunedops::cuda {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace tunedops::cuda
