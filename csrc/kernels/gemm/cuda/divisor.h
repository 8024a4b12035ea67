#pragma once

// Division by a number that is known beforehand. A GPU has no instruction for
// it, and what a compiler makes of it takes as long as a fetch from memory:
// much, where blocks begin with a chain of divisions. Of no GPU in particular.

#include <cstdint>

namespace tunedops::cuda {

/// Multiplies by ceil(2^shift / divisor), which is exact for what is below 2^31
/// since shift is 31 more than the doublings from 1 to the divisor or beyond.
class Divisor {
 public:
  /// Positive.
  explicit constexpr Divisor(int divisor = 1) {
    const auto by = static_cast<std::uint64_t>(divisor);
    while ((std::uint64_t{1} << (shift_ - 31)) < by) {
      ++shift_;
    }
    multiplier_ = static_cast<std::uint32_t>(
        ((std::uint64_t{1} << shift_) + by - 1) / by);
  }

  /// `number`: not negative.
  constexpr int divide(int number) const {
    return static_cast<int>(static_cast<std::uint64_t>(number) * multiplier_ >>
                            shift_);
  }

 private:
  std::uint32_t multiplier_ = 0;
  int shift_ = 31;
};

}  // namespace tunedops::cuda
