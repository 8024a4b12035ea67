#pragma once

// The configs of a kernel beyond those that it proposes first: often far more
// than can be measured. Each is a point, whose coordinates are scaled so that
// configs at a distance of about 1 behave differently; whoever searches need
// not know what they stand for.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tuning/config.h"

namespace tunedops {

inline constexpr std::size_t kPointDimensions = 12;
using Coordinates = std::array<float, kPointDimensions>;

/// The coordinate of a number, 1 or more, that makes configs behave differently
/// where it is twice as large.
inline float doublings(int value) {
  return std::log2(static_cast<float>(value));
}

struct ConfigPoint {
  std::uint32_t id = 0;  // what the space makes a config of
  /// By the kernel's own model of its costs. Only the ratios count; a kernel
  /// without a model says 1 for all.
  float predicted_ms = 1;
  Coordinates at{};  // what is not used is 0
  /// The first run of a kernel may take longer than the others, since its code
  /// is loaded then: by so much, until a point with the same `code` was run.
  float load_ms = 0;
  std::uint64_t code = 0;  // 0: of this point alone
};

class ConfigSpace {
 public:
  ConfigSpace() = default;
  ConfigSpace(const ConfigSpace&) = delete;
  ConfigSpace& operator=(const ConfigSpace&) = delete;
  virtual ~ConfigSpace() = default;

  /// At most so many configs that the kernel accepts, those with the best
  /// predictions, in that order.
  virtual std::vector<ConfigPoint> points(std::size_t most) = 0;

  virtual Config config(const ConfigPoint& point) const = 0;

  /// Where a config lies, be it one of the space's or not; nothing if that
  /// cannot be said.
  virtual std::optional<ConfigPoint> locate(const Config& config) const = 0;

  /// Says that a plan of the config was run: its code is loaded from now on,
  /// for other problems too.
  virtual void set_loaded(const Config& /*config*/) {}

  // The most that any plan of the space asks for.
  virtual std::size_t workspace_bytes() const { return 0; }
  virtual std::size_t counter_count() const { return 0; }
};

}  // namespace tunedops
