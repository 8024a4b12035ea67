#include "tuning/validators.h"

#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "tuning/results_csv.h"

namespace tunedops {

void Validators::add(const std::string& key, const std::string& value) {
  if (!is_csv_field(key) || !is_csv_field(value)) {
    throw std::invalid_argument("validator: '" + key + "' = '" + value +
                                "' holds text that a CSV field cannot");
  }
  entries_[key] = value;
}

std::optional<std::string> Validators::mismatch(const Validators& file) const {
  for (const auto& [key, current] : entries_) {
    const auto found = file.entries_.find(key);
    if (found == file.entries_.end()) {
      return "validator " + key + " is missing in the file, it is '" + current +
             "' here";
    }
    if (found->second != current) {
      return "validator " + key + " is '" + found->second +
             "' in the file and '" + current + "' here";
    }
  }
  for (const auto& [key, value] : file.entries_) {
    if (!entries_.contains(key)) {
      return "validator " + key + " ('" + value +
             "' in the file) is unknown here";
    }
  }
  return std::nullopt;
}

std::string Validators::digest() const {
  std::uint32_t hash = 2166136261U;  // FNV-1a: stable across platforms
  const auto mix = [&hash](const std::string& text) {
    for (const unsigned char c : text) {
      hash = (hash ^ c) * 16777619U;
    }
    hash = (hash ^ 0xffU) * 16777619U;
  };
  for (const auto& [key, value] : entries_) {
    mix(key);
    mix(value);
  }
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", hash);
  return text;
}

}  // namespace tunedops
