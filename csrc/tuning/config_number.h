#pragma once

// Numbers of configs that may come from a hostile file, for kernels that read
// one by writing what they read again: if that is another config, it was none
// of theirs.

#include <string_view>

#include "tuning/config.h"

namespace tunedops {

/// The number at a place of a parameter, 0 if there is none. Bounded to 0 to
/// 1024, so that the products of a few can be computed.
int config_number(const Config& config, std::string_view name,
                  std::size_t place = 0);

}  // namespace tunedops
