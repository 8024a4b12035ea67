#pragma once

// What holds inside a block of code: one solution for all problems, a set of
// results, that nothing is tuned, or that problems are only noted. Blocks lie
// on each other, and what one says nothing of is for the one below to say. An
// overlay's number is never used again, so what threads remember under it is
// never taken for another's.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuning/device.h"
#include "tuning/op_definition.h"
#include "tuning/settings.h"

namespace tunedops {

/// Results that an overlay has, and the devices that they are true of.
struct OverlayResults {
  std::map<KeyText, std::string> solutions;
  std::set<Device> devices;
};

/// That nothing is tuned or written, and what is done on a miss (nothing: what
/// the setting says).
struct Replay {
  std::optional<OnMiss> on_miss;
  auto operator<=>(const Replay&) const = default;
};

/// Not thread-safe: the context's lock guards it.
class Overlays {
 public:
  /// The overlay of a solution that every problem takes.
  std::uint32_t force(const std::string& solution, std::uint32_t below);

  /// The overlay under which nothing is tuned.
  std::uint32_t replay(const Replay& replay, std::uint32_t below);

  /// A new overlay under which problems are noted, and take Default.
  std::uint32_t record(std::uint32_t below);
  /// Those noted, in the order in which they came; the overlay is gone then,
  /// and so are those that lie on it.
  std::vector<ProblemKey> end_record(std::uint32_t overlay);

  /// Keeps results until they are removed; returns their number.
  std::uint32_t add(OverlayResults results);
  /// Overlays of these results are gone, and so are those that lie on them.
  void remove(std::uint32_t results);

  /// The overlay of results that lie on another one (0: on none): the same each
  /// time. Throws std::invalid_argument if they were removed.
  std::uint32_t lay(std::uint32_t results, std::uint32_t below);

  /// What an overlay says of a problem, and whether of all; null if nothing.
  const std::string* find(std::uint32_t overlay, Device device,
                          const KeyText& key, bool* is_forced) const;

  /// Whether it, or one below, replays: then the uppermost that does.
  const Replay* replayed(std::uint32_t overlay) const;

  /// Notes a problem if the overlay, or one below, records; returns whether.
  bool note(std::uint32_t overlay, const ProblemKey& problem);

 private:
  struct Overlay {
    std::string forced = {};     // or empty
    std::uint32_t results = 0;   // or 0
    std::uint32_t recorded = 0;  // or 0
    std::optional<Replay> replay = std::nullopt;
    std::uint32_t below = 0;

    auto operator<=>(const Overlay&) const = default;
  };

  std::uint32_t number_of(const Overlay& overlay);
  const Overlay* find(std::uint32_t overlay) const;
  template <class Condition>
  void erase_with_what_lies_on_it(Condition condition);

  std::map<std::uint32_t, Overlay> overlays_;
  std::map<Overlay, std::uint32_t> numbers_;
  std::map<std::uint32_t, OverlayResults> results_;
  std::map<std::uint32_t, std::vector<ProblemKey>> recorded_;
  std::uint32_t last_overlay_ = 0;
  std::uint32_t last_results_ = 0;
  std::uint32_t last_recorded_ = 0;
};

}  // namespace tunedops
