#include "tuning/timing.h"

#include <array>
#include <cstdio>

namespace tunedops {

std::string utc_day(std::chrono::system_clock::time_point time) {
  const std::chrono::year_month_day day{
      std::chrono::floor<std::chrono::days>(time)};
  std::array<char, 32> text{};
  std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(day.year()),
      static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return text.data();
}

}  // namespace tunedops
