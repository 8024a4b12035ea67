#include "tuning/config.h"

#include <charconv>
#include <stdexcept>

namespace tunedops {
namespace {

// Far above any real kernel, low enough that hostile text costs nothing.
constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxParameters = 16;
constexpr std::size_t kMaxValues = 8;

bool is_name(std::string_view text) {
  if (text.empty()) {
    return false;
  }
  for (const char c : text) {
    if (c < 'a' || c > 'z') {
      return false;
    }
  }
  return true;
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return head;
}

bool parse_values(std::string_view text, std::vector<std::int64_t>& values) {
  if (text.empty() || text.back() == 'x') {
    return false;
  }
  while (!text.empty()) {
    const std::string_view item = take_until(text, 'x');
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(item.data(), item.data() + item.size(), value);
    // Writing is canonical, so a value that would be written otherwise (007,
    // -0) is not one of ours.
    if (error != std::errc() || end != item.data() + item.size() ||
        std::to_string(value) != item || values.size() == kMaxValues) {
      return false;
    }
    values.push_back(value);
  }
  return true;
}

}  // namespace

Config Config::with(std::string_view name,
                    std::vector<std::int64_t> values) const {
  if (!is_name(name) || values.empty()) {
    throw std::invalid_argument("Config: a parameter needs a name of letters "
                                "a-z and at least one value, got '" +
                                std::string(name) + "'");
  }
  Config longer = *this;
  longer.parameters_.push_back({std::string(name), std::move(values)});
  return longer;
}

Config Config::with(std::string_view name, std::int64_t value) const {
  return with(name, std::vector<std::int64_t>{value});
}

const std::vector<std::int64_t>& Config::values(std::string_view name) const {
  for (const Parameter& parameter : parameters_) {
    if (parameter.name == name) {
      return parameter.values;
    }
  }
  throw std::out_of_range("Config: no parameter '" + std::string(name) +
                          "' in '" + to_text() + "'");
}

std::int64_t Config::at(std::string_view name) const {
  return values(name).front();
}

std::string Config::to_text() const {
  std::string text;
  for (const Parameter& parameter : parameters_) {
    text += '_' + parameter.name;
    char separator = '_';
    for (const std::int64_t value : parameter.values) {
      text += separator + std::to_string(value);
      separator = 'x';
    }
  }
  return text;
}

std::optional<Config> Config::from_text(std::string_view text) {
  if (text.size() > kMaxText) {
    return std::nullopt;
  }
  Config config;
  while (!text.empty()) {
    if (text.front() != '_' || config.parameters_.size() == kMaxParameters) {
      return std::nullopt;
    }
    text.remove_prefix(1);
    Parameter parameter;
    parameter.name = take_until(text, '_');
    const std::size_t end = text.find('_');
    if (!is_name(parameter.name) ||
        !parse_values(text.substr(0, end), parameter.values)) {
      return std::nullopt;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    config.parameters_.push_back(std::move(parameter));
  }
  return config;
}

}  // namespace tunedops
