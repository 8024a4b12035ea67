#pragma once

// The tunable parameters of one kernel, as an ordered list of small integers
// with names. A config is text in results files (`_tile_128x256x64_stages_4`),
// so it is parsed strictly: it may come from a hand-edited or hostile file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/visibility.h"

namespace tunedops {

class TUNEDOPS_PUBLIC Config {
 public:
  Config() = default;

  /// Appends a parameter; returns itself so that configs can be written as
  /// `Config().with("tile", {128, 64}).with("stages", {4})`.
  Config with(std::string_view name, std::vector<std::int64_t> values) const;
  Config with(std::string_view name, std::int64_t value) const;

  /// The single value of a parameter; throws std::out_of_range if absent.
  std::int64_t at(std::string_view name) const;
  /// All values of a parameter (`tile_128x64` has two).
  const std::vector<std::int64_t>& values(std::string_view name) const;

  bool empty() const { return parameters_.empty(); }
  bool operator==(const Config&) const = default;

  /// `_name_value…`, empty for a config without parameters.
  std::string to_text() const;
  static std::optional<Config> from_text(std::string_view text);

 private:
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> values;
    bool operator==(const Parameter&) const = default;
  };
  std::vector<Parameter> parameters_;
};

}  // namespace tunedops
