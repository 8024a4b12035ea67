#include "tuning/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace tunedops {
namespace {

enum class Kind { kBoolean, kInteger, kText, kChoice, kNumericalCheck };

struct Declaration {
  std::string_view name;
  Kind kind;
  std::string_view standard;
  std::int64_t least;  // of integers
  std::string_view meaning;
  // Of a choice, as a sentence names them: `default, heuristic or error`.
  std::string_view choices = {};
};

constexpr std::array kDeclarations{
    Declaration{"ENABLED", Kind::kBoolean, "0", 0,
                "products use stored results"},
    Declaration{"TUNING", Kind::kBoolean, "1", 0,
                "a product without a result is tuned"},
    Declaration{"READ_ONLY", Kind::kBoolean, "0", 0,
                "nothing is tuned and nothing is written"},
    Declaration{"ON_MISS", Kind::kChoice, "default", 0,
                "without result and tuning: default, heuristic or error",
                "default, heuristic or error"},
    Declaration{"KERNELS", Kind::kText, "", 0,
                "names of the kernels that may compete, comma-separated"},
    Declaration{"FILENAME", Kind::kText, "tunedops_results.csv", 0,
                "results file; %d or the end of the stem takes the device"},
    Declaration{"CACHE_DIR", Kind::kText, "", 0,
                "folder of your own results for all programs; empty: none"},
    Declaration{"DATABASE_DIR", Kind::kText, "", 0,
                "folder of results tuned beforehand; empty: none"},
    Declaration{"RECORD_UNTUNED", Kind::kBoolean, "0", 0,
                "products without a result are written to a file"},
    Declaration{"UNTUNED_FILENAME", Kind::kText, "tunedops_untuned.csv", 0,
                "that file; the end of the stem takes the device"},
    Declaration{"VERBOSE", Kind::kInteger, "0", 0,
                "0 warnings only, 1 results, 2 tuning, 3 every decision"},
    Declaration{"VERBOSE_FILENAME", Kind::kText, "err", 0,
                "err, out or a file"},
    Declaration{"SEARCH", Kind::kChoice, "guided", 0,
                "configs that are measured: proposals, guided or exhaustive",
                "proposals, guided or exhaustive"},
    Declaration{"MAX_TUNING_DURATION_MS", Kind::kInteger, "30", 0,
                "milliseconds of screening for a solution"},
    Declaration{"MAX_TUNING_ITERATIONS", Kind::kInteger, "100", 0,
                "calls of screening for a solution"},
    Declaration{"MAX_WARMUP_DURATION_MS", Kind::kInteger, "0", 0,
                "milliseconds of warm-up before a solution is timed"},
    Declaration{"MAX_WARMUP_ITERATIONS", Kind::kInteger, "1", 0,
                "calls of warm-up before a solution is timed"},
    Declaration{"MAX_TUNING_BUDGET_MS", Kind::kInteger, "400", 1,
                "milliseconds for one problem, everything included"},
    Declaration{"TOTAL_BUDGET_S", Kind::kInteger, "120", 0,
                "seconds of tuning inside products for a process"},
    Declaration{"MAX_VARIANTS", Kind::kInteger, "32", 0,
                "problems tuned that differ in one dimension only"},
    Declaration{"MAX_WAITING_PERCENT", Kind::kInteger, "10", 0,
                "of the time, for a processor, or a result is marked as busy"},
    Declaration{"ROTATING_BUFFER_SIZE", Kind::kInteger, "-1", -1,
                "MiB that operands rotate over; -1 the cache, 0 none"},
    Declaration{"GRAPH_REPLAY", Kind::kBoolean, "0", 0,
                "GPU: time in CUDA graphs; not while threads synchronize"},
    Declaration{"NUMERICAL_CHECK", Kind::kNumericalCheck, "1", 0,
                "finalists are checked: 1, 0 or atol_rtol"},
};

const Declaration& declaration(std::string_view name) {
  for (const Declaration& d : kDeclarations) {
    if (d.name == name) {
      return d;
    }
  }
  throw std::invalid_argument("there is no setting '" + std::string(name) +
                              "'");
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view yes : {"1", "true", "on", "yes"}) {
    if (text == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"0", "false", "off", "no"}) {
    if (text == no) {
      return false;
    }
  }
  return std::nullopt;
}

std::optional<NumericalCheck> parse_numerical_check(std::string_view text) {
  if (const auto enabled = parse_boolean(text)) {
    return NumericalCheck{.enabled = *enabled, .absolute = {}, .relative = {}};
  }
  const std::size_t underscore = text.find('_');
  if (underscore == std::string_view::npos) {
    return std::nullopt;
  }
  const auto absolute = parse_number<double>(text.substr(0, underscore));
  const auto relative = parse_number<double>(text.substr(underscore + 1));
  if (!absolute || !relative || !(*absolute > 0) || !(*relative > 0) ||
      !std::isfinite(*absolute) || !std::isfinite(*relative)) {
    return std::nullopt;
  }
  return NumericalCheck{
      .enabled = true, .absolute = absolute, .relative = relative};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// As the XDG base directories say.
std::string cache_folder(const Settings::Environment& environment) {
  const char* const caches = environment("XDG_CACHE_HOME");
  if (caches != nullptr && *caches == '/') {
    return std::string(caches) + "/tunedops";
  }
  const char* const home = environment("HOME");
  return home != nullptr && *home == '/'
             ? std::string(home) + "/.cache/tunedops"
             : std::string();
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    const std::size_t end =
        std::min(choices.find_first_of(", "), choices.size());
    if (choices.substr(0, end) == value && value != "or") {
      return true;
    }
    choices.remove_prefix(
        std::min(choices.find_first_not_of(", ", end), choices.size()));
  }
  return false;
}

struct Parsed {
  std::optional<std::string> text;  // canonical
  std::string expected;
};

Parsed parse(const Declaration& d, const std::string& text) {
  switch (d.kind) {
  case Kind::kBoolean: {
    const auto value = parse_boolean(lower(text));
    return {value ? std::optional<std::string>(*value ? "1" : "0")
                  : std::nullopt,
            "0 or 1"};
  }
  case Kind::kInteger: {
    const auto value = parse_number<std::int32_t>(text);
    const bool fits = value && *value >= d.least;
    return {fits ? std::optional<std::string>(std::to_string(*value))
                 : std::nullopt,
            "an integer of at least " + std::to_string(d.least)};
  }
  case Kind::kChoice: {
    const std::string value = lower(text);
    return {is_choice(d.choices, value) ? std::optional<std::string>(value)
                                        : std::nullopt,
            std::string(d.choices)};
  }
  case Kind::kNumericalCheck: {
    const std::string value = lower(text);
    const auto boolean = parse_boolean(value);
    if (boolean) {
      return {*boolean ? "1" : "0", {}};
    }
    return {parse_numerical_check(value) ? std::optional<std::string>(value)
                                         : std::nullopt,
            "0, 1 or two positive tolerances such as 1e-3_1e-3"};
  }
  case Kind::kText:
    return {text, {}};
  }
  return {};
}

}  // namespace

Settings::Settings(const Environment& environment) {
  for (const Declaration& d : kDeclarations) {
    const std::string name(d.name);
    Value value{.text = name == "CACHE_DIR" ? cache_folder(environment)
                                            : std::string(d.standard)};
    const std::string variable = "TUNEDOPS_" + name;
    if (const char* text = environment(variable.c_str())) {
      const Parsed parsed = parse(d, text);
      if (parsed.text) {
        value.text = *parsed.text;
        value.origin = "environment";
      } else {
        complaints_.push_back(variable + " is '" + text + "', expected " +
                              parsed.expected + "; it stays at " + value.text);
      }
    }
    values_[name] = value;
  }
}

const Settings::Value& Settings::value(const std::string& name) const {
  return values_.at(std::string(declaration(name).name));
}

std::string Settings::get(const std::string& name) const {
  return value(name).text;
}

bool Settings::set(const std::string& name, const std::string& text) {
  const Declaration& d = declaration(name);
  const Parsed parsed = parse(d, text);
  if (!parsed.text) {
    throw std::invalid_argument(name + " must be " + parsed.expected +
                                ", got '" + text + "'");
  }
  Value& current = values_[name];
  if (current.origin == "environment") {
    return current.text == *parsed.text;
  }
  current.text = *parsed.text;
  current.origin = "api";
  return true;
}

void Settings::set_standard(const std::string& name, const std::string& text) {
  Value& current = values_.at(std::string(declaration(name).name));
  current.standard = text;
  if (current.origin == "default") {
    current.text = text;
  }
}

std::vector<Settings::Description> Settings::describe() const {
  std::vector<Description> all;
  for (const Declaration& d : kDeclarations) {
    const Value& v = values_.at(std::string(d.name));
    all.push_back({std::string(d.name), v.text, v.standard, v.origin,
                   std::string(d.meaning)});
  }
  return all;
}

bool Settings::boolean(const std::string& name) const {
  return value(name).text == "1";
}

std::int64_t Settings::integer(const std::string& name) const {
  return parse_number<std::int64_t>(value(name).text).value_or(0);
}

OnMiss Settings::on_miss() const {
  return parse_on_miss(value("ON_MISS").text);
}

OnMiss parse_on_miss(std::string_view text) {
  if (text == "heuristic") {
    return OnMiss::kHeuristic;
  }
  return text == "error" ? OnMiss::kError : OnMiss::kDefault;
}

Search parse_search(std::string_view text) {
  if (text == "proposals") {
    return Search::kProposals;
  }
  return text == "exhaustive" ? Search::kExhaustive : Search::kGuided;
}

Search Settings::search() const { return parse_search(value("SEARCH").text); }

NumericalCheck Settings::numerical_check() const {
  return parse_numerical_check(value("NUMERICAL_CHECK").text)
      .value_or(NumericalCheck{});
}

std::vector<std::string> Settings::kernels() const {
  std::vector<std::string> names;
  std::string_view rest = value("KERNELS").text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    while (name.starts_with(' ')) {
      name.remove_prefix(1);
    }
    while (name.ends_with(' ')) {
      name.remove_suffix(1);
    }
    if (!name.empty()) {
      names.emplace_back(name);
    }
    rest.remove_prefix(comma == std::string_view::npos ? rest.size()
                                                       : comma + 1);
  }
  return names;
}

}  // namespace tunedops
