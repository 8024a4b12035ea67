#include "tuning/config_number.h"

#include <algorithm>
#include <stdexcept>

namespace tunedops {

int config_number(const Config& config, std::string_view name,
                  std::size_t place) {
  constexpr std::int64_t kMost = 1 << 10;
  try {
    const std::vector<std::int64_t>& values = config.values(name);
    return place < values.size() ? static_cast<int>(std::clamp<std::int64_t>(
                                       values[place], 0, kMost))
                                 : 0;
  } catch (const std::out_of_range&) {  // the parameter is missing
    return 0;
  }
}

}  // namespace tunedops
