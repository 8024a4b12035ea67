#pragma once

// The places that can decide on a product, in the order in which they are
// asked.

#include <cstdint>
#include <string_view>

namespace tunedops {

enum class Tier : std::uint8_t {
  kUnknown,  // lookups are off, or nothing is known of the product
  kRecorded,
  kForced,
  kOverlay,
  kResultsFile,
  kTunedHere,  // a row of the results file that this process won
  kPersonalCache,
  kDatabase,
  kMiss,
};

/// The place, for people: `results file`.
constexpr std::string_view name_of(Tier tier) {
  switch (tier) {
  case Tier::kUnknown:
    return "";
  case Tier::kRecorded:
    return "recorder";
  case Tier::kForced:
  case Tier::kOverlay:
    return "overlay";
  case Tier::kResultsFile:
  case Tier::kTunedHere:
    return "results file";
  case Tier::kPersonalCache:
    return "personal cache";
  case Tier::kDatabase:
    return "database";
  case Tier::kMiss:
    return "a miss";
  }
  return "";
}

/// What became of a product, in a line of the log: `from the file`.
constexpr std::string_view phrase_of(Tier tier) {
  switch (tier) {
  case Tier::kUnknown:
    return "unknown";
  case Tier::kRecorded:
    return "recorded";
  case Tier::kForced:
    return "forced";
  case Tier::kOverlay:
    return "from an overlay";
  case Tier::kResultsFile:
    return "from the file";
  case Tier::kTunedHere:
    return "tuned by this process";
  case Tier::kPersonalCache:
    return "from the personal cache";
  case Tier::kDatabase:
    return "from the database";
  case Tier::kMiss:
    return "on miss";
  }
  return "";
}

}  // namespace tunedops
