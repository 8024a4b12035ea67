#pragma once

// Splits of a sum meet here: whichever block comes last has all of them in
// memory and adds them up, so that no block waits for another.

namespace tunedops::cuda {

/// Called by all threads that `sync` waits for, of which one `leads`. Tells all
/// of them whether `splits` blocks have arrived by now, and what those wrote
/// before can be read.
template <class Sync>
__device__ bool is_last_arrival(unsigned* counter, int splits, bool leads,
                                Sync sync) {
  __shared__ bool is_last;
  __threadfence();
  sync();
  if (leads) {
    is_last = atomicAdd(counter, 1U) == static_cast<unsigned>(splits) - 1;
    if (is_last) {
      *counter = 0;  // as the next run expects it
    }
  }
  sync();
  if (is_last) {
    __threadfence();
  }
  return is_last;
}

}  // namespace tunedops::cuda
