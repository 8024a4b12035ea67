#pragma once

// A space of configs that can simply be listed: a few hundred at most.

#include <algorithm>
#include <utility>

#include "tuning/config_space.h"

namespace tunedops {

class ListedSpace final : public ConfigSpace {
 public:
  struct Entry {
    Config config;
    ConfigPoint point;  // its id is set here
  };

  /// Bytes and counters are the most that any of the plans asks for.
  explicit ListedSpace(std::vector<Entry> entries,
                       std::size_t workspace_bytes = 0,
                       std::size_t counter_count = 0)
      : entries_(std::move(entries)), workspace_bytes_(workspace_bytes),
        counter_count_(counter_count) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].point.id = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<ConfigPoint> points(std::size_t most) override {
    std::vector<ConfigPoint> points;
    for (const Entry& entry : entries_) {
      points.push_back(entry.point);
    }
    std::stable_sort(points.begin(), points.end(),
                     [](const ConfigPoint& left, const ConfigPoint& right) {
                       return left.predicted_ms < right.predicted_ms;
                     });
    points.resize(std::min(most, points.size()));
    return points;
  }

  Config config(const ConfigPoint& point) const override {
    return entries_.at(point.id).config;
  }

  std::optional<ConfigPoint> locate(const Config& config) const override {
    for (const Entry& entry : entries_) {
      if (entry.config == config) {
        return entry.point;
      }
    }
    return std::nullopt;
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  std::size_t counter_count() const override { return counter_count_; }

 private:
  std::vector<Entry> entries_;
  std::size_t workspace_bytes_;
  std::size_t counter_count_;
};

}  // namespace tunedops
