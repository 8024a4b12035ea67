#pragma once

// Counters (see Plan::counter_count) for calls that are being captured. A graph
// may run beside any other work, so each of its calls has counters of its own.
// They are zeroed when they are made, since clearing them in the graph would
// cost as much as a small product.

#include <cstddef>

namespace tunedops::cuda {

/// `count` of them on the current device, for one captured call and for as long
/// as the process lives. Null if there is not enough memory.
unsigned* captured_counters(int device, std::size_t count);

}  // namespace tunedops::cuda
