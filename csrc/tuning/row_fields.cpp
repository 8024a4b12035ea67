#include "tuning/row_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace tunedops {
namespace {

constexpr std::size_t kMaxWord = 32;
constexpr std::size_t kMaxDigits = 9;  // of a count, which fits an int

constexpr int kPlacesOfShare = 4;  // no measurement tells less apart

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_of_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_' || c == '-';
}

// The whole text, or nothing.
template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value)
                                             : std::nullopt;
}

}  // namespace

std::optional<double> parse_milliseconds(std::string_view text) {
  const auto value = parse_all<double>(text);
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::optional<std::string> parse_word(std::string_view text) {
  const bool is_word = !text.empty() && text.size() <= kMaxWord &&
                       std::all_of(text.begin(), text.end(), is_of_word);
  return is_word ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<int> parse_count(std::string_view text) {
  if (text.size() > kMaxDigits) {
    return std::nullopt;
  }
  const auto value = parse_all<int>(text);
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
  const auto value = parse_all<double>(text);
  return value && std::isfinite(*value) && !std::signbit(*value) ? value
                                                                 : std::nullopt;
}

std::optional<std::string> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' ||
      std::count_if(text.begin(), text.end(), is_digit) != 8) {
    return std::nullopt;
  }
  const auto number = [text](std::size_t begin, std::size_t size) {
    return *parse_all<unsigned>(text.substr(begin, size));
  };
  const std::chrono::year_month_day day{
      std::chrono::year(static_cast<int>(number(0, 4))),
      std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))};
  return day.ok() && day.year() > std::chrono::year(0)
             ? std::optional<std::string>(text)
             : std::nullopt;
}

// to_chars, unlike printf, knows no locale that writes a comma.
std::string format_milliseconds(double milliseconds) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(
      text.begin(), text.end(), milliseconds, std::chars_format::general, 5);
  return error == std::errc() ? std::string(text.begin(), end) : "0";
}

std::string format_decimal(double value, int places) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.begin(), buffer.end(), value,
                                          std::chars_format::fixed, places);
  if (error != std::errc()) {
    return "0";
  }
  std::string text(buffer.begin(), end);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

std::string format_share(double share) {
  return format_decimal(share, kPlacesOfShare);
}

std::vector<std::string> timed_fields(double time_ms, double default_ms,
                                      const Timing& timing) {
  return {format_milliseconds(time_ms),
          format_milliseconds(default_ms),
          timing.stopwatch,
          std::to_string(timing.samples),
          format_share(timing.spread),
          format_share(timing.margin),
          timing.date};
}

}  // namespace tunedops
