#pragma once

// Choices that hold inside a block of code: one solution for all problems, or a
// set of results. Blocks lie on each other, and what one says nothing of is for
// the one below to say. An overlay's number is never used again, so what
// threads remember under it is never taken for another's.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuning/device.h"
#include "tuning/op_definition.h"

namespace tunedops {

/// Results that an overlay has, and the devices that they are true of.
struct OverlayResults {
  std::map<KeyText, std::string> solutions;
  std::set<Device> devices;
};

/// Not thread-safe: the context's lock guards it.
class Overlays {
 public:
  /// The overlay of a solution that every problem takes.
  std::uint32_t force(const std::string& solution);

  /// Keeps results until they are removed; returns their number.
  std::uint32_t add(OverlayResults results);
  /// Overlays of these results say nothing from now on, nor does what lies
  /// below them.
  void remove(std::uint32_t results);

  /// The overlay of results that lie on another one (0: on none): the same each
  /// time. Throws std::invalid_argument if they were removed.
  std::uint32_t lay(std::uint32_t results, std::uint32_t below);

  /// What an overlay says of a problem, and whether of all; null if nothing.
  const std::string* find(std::uint32_t overlay, Device device,
                          const KeyText& key, bool* is_forced) const;

 private:
  struct Overlay {
    std::string forced = {};    // or empty
    std::uint32_t results = 0;  // or 0
    std::uint32_t below = 0;
  };

  std::map<std::uint32_t, Overlay> overlays_;
  std::map<std::uint32_t, OverlayResults> results_;
  std::map<std::string, std::uint32_t> forced_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> laid_;
  std::uint32_t last_overlay_ = 0;
  std::uint32_t last_results_ = 0;
};

}  // namespace tunedops
