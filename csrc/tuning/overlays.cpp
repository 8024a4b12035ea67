#include "tuning/overlays.h"

#include <stdexcept>

namespace tunedops {

std::uint32_t Overlays::force(const std::string& solution) {
  auto& overlay = forced_[solution];
  if (overlay == 0) {
    overlay = ++last_overlay_;
    overlays_[overlay] = {.forced = solution};
  }
  return overlay;
}

std::uint32_t Overlays::add(OverlayResults results) {
  results_.emplace(++last_results_, std::move(results));
  return last_results_;
}

void Overlays::remove(std::uint32_t results) {
  results_.erase(results);
  for (auto laid = laid_.lower_bound({results, 0});
       laid != laid_.end() && laid->first.first == results;) {
    overlays_.erase(laid->second);
    laid = laid_.erase(laid);
  }
}

std::uint32_t Overlays::lay(std::uint32_t results, std::uint32_t below) {
  if (!results_.contains(results)) {
    throw std::invalid_argument("these results were given back already");
  }
  auto& overlay = laid_[{results, below}];
  if (overlay == 0) {
    overlay = ++last_overlay_;
    overlays_[overlay] = {.results = results, .below = below};
  }
  return overlay;
}

const std::string* Overlays::find(std::uint32_t overlay, Device device,
                                  const KeyText& key, bool* is_forced) const {
  *is_forced = false;
  while (overlay != 0) {
    const auto found = overlays_.find(overlay);
    if (found == overlays_.end()) {
      return nullptr;
    }
    if (!found->second.forced.empty()) {
      *is_forced = true;
      return &found->second.forced;
    }
    const OverlayResults& results = results_.at(found->second.results);
    if (results.devices.contains(device)) {
      const auto solution = results.solutions.find(key);
      if (solution != results.solutions.end()) {
        return &solution->second;
      }
    }
    overlay = found->second.below;
  }
  return nullptr;
}

}  // namespace tunedops
