#pragma once

// How many pieces of one length cover another, the last of them in part.

#include <cstdint>

namespace tunedops {

constexpr std::int64_t divide_up(std::int64_t length, std::int64_t piece) {
  return (length + piece - 1) / piece;
}

}  // namespace tunedops
