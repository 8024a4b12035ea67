#pragma once

// Sizes of what a block of Gemm_Sm90 keeps in shared memory beside its stages;
// the host has to know them too.

#include <cstddef>

#include "kernels/gemm/cuda/tile_strip.h"

namespace tunedops::cuda {

/// Warps that multiply: two groups of four.
inline constexpr int kSm90Warps = 8;

/// Eight rows by 64 columns of sums, each row with room behind it so that the
/// threads of a warp meet different banks.
inline constexpr int kSm90StripPitch = 72;
inline constexpr int kSm90StripFloats = kStripRows * kSm90StripPitch;

/// That a block may ask for on compute 9.0, less what a kernel has for itself.
inline constexpr std::size_t kSm90MostSharedBytes = (227 << 10) - 128;

/// The swizzle of the copies is a function of the address.
inline constexpr int kSm90Align = 1024;

constexpr std::size_t sm90_shared_bytes(std::size_t stage_bytes, int stages) {
  return kSm90Align + static_cast<std::size_t>(stages) * stage_bytes +
         sizeof(float) * kSm90Warps * kSm90StripFloats +
         2 * sizeof(long long) * static_cast<std::size_t>(stages);
}

}  // namespace tunedops::cuda
