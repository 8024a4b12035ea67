#pragma once

// The switches. Each has an environment variable (TUNEDOPS_ and its name) and
// most have an API; a variable that is set wins both ways, so that whoever
// starts a program has the last word over whoever wrote it. Every value knows
// where it came from, which is what `doctor` prints.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tunedops {

/// What a product does when no result is stored and none is made.
enum class OnMiss : std::uint8_t { kDefault, kHeuristic, kError };

/// Which configs of a kernel are measured: those that it proposes first, also
/// what a search finds within the budget, or all that there are.
enum class Search : std::uint8_t { kProposals, kGuided, kExhaustive };

/// A value of the setting; what is none means default.
OnMiss parse_on_miss(std::string_view text);

/// A value of the setting; what is none means guided.
Search parse_search(std::string_view text);

/// The numeric check of finalists; tolerances override the op's own.
struct NumericalCheck {
  bool enabled = true;
  std::optional<double> absolute;
  std::optional<double> relative;
};

class Settings {
 public:
  /// Reads an environment variable; null if it is absent.
  using Environment = std::function<const char*(const char*)>;

  /// Reads the whole environment. What cannot be parsed is reported in
  /// `complaints` and leaves the default.
  explicit Settings(const Environment& environment);

  /// The value as text: `1`, `30`, `default`, `1e-05_1e-05`.
  std::string get(const std::string& name) const;

  /// Where the value comes from: `default`, `environment` or `api`.
  std::string origin(const std::string& name) const {
    return value(name).origin;
  }

  /// Sets a value from the API. Throws std::invalid_argument (saying what is
  /// expected) for an unknown name or a value that does not fit. Returns false
  /// and changes nothing if the environment set another value.
  bool set(const std::string& name, const std::string& value);

  /// Changes a default that is known only when the program runs.
  void set_standard(const std::string& name, const std::string& value);

  struct Description {
    std::string name;  // without the prefix
    std::string value;
    std::string standard;  // the default
    std::string origin;    // "default", "environment" or "api"
    std::string meaning;
  };
  std::vector<Description> describe() const;

  bool boolean(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  OnMiss on_miss() const;
  Search search() const;
  NumericalCheck numerical_check() const;
  /// Names in KERNELS; empty: all kernels may compete.
  std::vector<std::string> kernels() const;

  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  struct Value {
    std::string text;
    std::string origin = "default";
    std::string standard = text;
  };

  const Value& value(const std::string& name) const;

  std::map<std::string, Value> values_;
  std::vector<std::string> complaints_;
};

}  // namespace tunedops
