#pragma once

// The fields of a row behind its solution: what their text means, and how they
// are written. All are optional and only people read them, so text that is not
// exactly what a field holds means nothing and costs nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/timing.h"

namespace tunedops {

/// A positive number.
std::optional<double> parse_milliseconds(std::string_view text);
/// How something was timed: letters, digits, `_` and `-`.
std::optional<std::string> parse_word(std::string_view text);
/// A positive whole number of at most nine digits.
std::optional<int> parse_count(std::string_view text);
/// A number that is not negative.
std::optional<double> parse_share(std::string_view text);
/// A day that there is, as in 2026-11-30.
std::optional<std::string> parse_day(std::string_view text);

/// With enough digits to compare and few enough to read.
std::string format_milliseconds(double milliseconds);
/// A decimal without an exponent, at most `places` digits behind the point.
std::string format_decimal(double value, int places);

/// The same of a share, as precise as a measurement is.
std::string format_share(double share);

/// All of them, in their order, of a result that was won here.
std::vector<std::string> timed_fields(double time_ms, double default_ms,
                                      const Timing& timing);

}  // namespace tunedops
