#pragma once

// How a result was found. It is kept in the result's row, so that whoever reads
// the row later knows how much its times are worth.

#include <chrono>
#include <string>
#include <string_view>

namespace tunedops {

/// Behind the stopwatch's name: other work disturbed it.
inline constexpr std::string_view kBusy = "-busy";

struct Timing {
  std::string stopwatch;  // its name: clock, events, graphs; then kBusy or not
  int samples = 0;        // rounds of the final that the winner was timed in
  // Of the winner's ratios to Default, or of Default's readings if that won.
  double spread = 0;
  double margin = 0;  // the share by which a challenger had to be faster
  std::string date;   // the UTC day, as in 2026-11-30
};

/// The UTC day of a time: a file's rows may come from several time zones.
std::string utc_day(std::chrono::system_clock::time_point time);

}  // namespace tunedops
