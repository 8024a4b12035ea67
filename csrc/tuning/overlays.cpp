#include "tuning/overlays.h"

#include <algorithm>
#include <stdexcept>

namespace tunedops {

std::uint32_t Overlays::number_of(const Overlay& overlay) {
  auto& number = numbers_[overlay];
  if (number == 0) {
    number = ++last_overlay_;
    overlays_[number] = overlay;
  }
  return number;
}

const Overlays::Overlay* Overlays::find(std::uint32_t overlay) const {
  const auto found = overlays_.find(overlay);
  return found == overlays_.end() ? nullptr : &found->second;
}

// What lies on one has a greater number, so one walk finds all.
template <class Condition>
void Overlays::erase_with_what_lies_on_it(Condition condition) {
  std::set<std::uint32_t> gone;
  for (auto each = overlays_.begin(); each != overlays_.end();) {
    if (condition(each->first, each->second) ||
        gone.contains(each->second.below)) {
      gone.insert(each->first);
      numbers_.erase(each->second);
      each = overlays_.erase(each);
    } else {
      ++each;
    }
  }
}

std::uint32_t Overlays::force(const std::string& solution,
                              std::uint32_t below) {
  return number_of({.forced = solution, .below = below});
}

std::uint32_t Overlays::replay(const Replay& replay, std::uint32_t below) {
  return number_of({.replay = replay, .below = below});
}

std::uint32_t Overlays::record(std::uint32_t below) {
  recorded_[++last_recorded_];
  return number_of({.recorded = last_recorded_, .below = below});
}

std::vector<ProblemKey> Overlays::end_record(std::uint32_t overlay) {
  const Overlay* const ended = find(overlay);
  const auto noted =
      ended == nullptr ? recorded_.end() : recorded_.find(ended->recorded);
  if (noted == recorded_.end()) {
    throw std::invalid_argument("this overlay records nothing");
  }
  std::vector<ProblemKey> problems = std::move(noted->second);
  recorded_.erase(noted);
  erase_with_what_lies_on_it([overlay](std::uint32_t number, const Overlay&) {
    return number == overlay;
  });
  return problems;
}

std::uint32_t Overlays::add(OverlayResults results) {
  results_.emplace(++last_results_, std::move(results));
  return last_results_;
}

void Overlays::remove(std::uint32_t results) {
  results_.erase(results);
  erase_with_what_lies_on_it([&](std::uint32_t, const Overlay& each) {
    return each.results == results;
  });
}

std::uint32_t Overlays::lay(std::uint32_t results, std::uint32_t below) {
  if (!results_.contains(results)) {
    throw std::invalid_argument("these results were given back already");
  }
  return number_of({.results = results, .below = below});
}

const std::string* Overlays::find(std::uint32_t overlay, Device device,
                                  const KeyText& key, bool* is_forced) const {
  *is_forced = false;
  for (const Overlay* each = find(overlay); each != nullptr;
       each = find(each->below)) {
    if (!each->forced.empty()) {
      *is_forced = true;
      return &each->forced;
    }
    const auto results = results_.find(each->results);
    if (results != results_.end() && results->second.devices.contains(device)) {
      const auto solution = results->second.solutions.find(key);
      if (solution != results->second.solutions.end()) {
        return &solution->second;
      }
    }
  }
  return nullptr;
}

const Replay* Overlays::replayed(std::uint32_t overlay) const {
  for (const Overlay* each = find(overlay); each != nullptr;
       each = find(each->below)) {
    if (each->replay) {
      return &*each->replay;
    }
  }
  return nullptr;
}

bool Overlays::note(std::uint32_t overlay, const ProblemKey& problem) {
  for (const Overlay* each = find(overlay); each != nullptr;
       each = find(each->below)) {
    const auto noted = recorded_.find(each->recorded);
    if (noted != recorded_.end()) {
      std::vector<ProblemKey>& problems = noted->second;
      if (std::find(problems.begin(), problems.end(), problem) ==
          problems.end()) {
        problems.push_back(problem);
      }
      return true;
    }
  }
  return false;
}

}  // namespace tunedops
