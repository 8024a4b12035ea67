#pragma once

// The revision of our own kernels, a validator of every results file. Raise it
// when a kernel's behaviour or a name in a solution changes, so that winners
// measured before are not trusted.

namespace tunedops {

inline constexpr int kKernelsRevision = 1;

}  // namespace tunedops
