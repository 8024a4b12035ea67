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

/// Whether all blocks but this one have arrived. If so, this one is the last
/// and must not call is_last_arrival any more. At most once in a block, since
/// the answer's place is written before anyone waits.
template <class Sync>
__device__ bool have_others_arrived(unsigned* counter, int splits, bool leads,
                                    Sync sync) {
  __shared__ bool have_arrived;
  if (leads) {
    have_arrived = *static_cast<volatile unsigned*>(counter) ==
                   static_cast<unsigned>(splits) - 1;
    if (have_arrived) {
      *counter = 0;
    }
  }
  sync();
  if (have_arrived) {
    __threadfence();
  }
  return have_arrived;
}

}  // namespace tunedops::cuda
