#include "kernels/gemm/cuda/tiled_config.h"

#include <algorithm>

namespace tunedops::cuda {

std::vector<ListedSpace::Entry>
fastest_first(const std::vector<TiledConfig>& all) {
  std::vector<ListedSpace::Entry> entries;
  for (const TiledConfig& x : all) {
    ConfigPoint point;
    point.predicted_ms = static_cast<float>(x.us / 1000);
    point.at = x.at;
    entries.push_back({x.config, point});
  }
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const ListedSpace::Entry& left, const ListedSpace::Entry& right) {
        return left.point.predicted_ms < right.point.predicted_ms;
      });
  return entries;
}

std::vector<Config> proposals(const std::vector<ListedSpace::Entry>& sorted) {
  constexpr std::size_t kMost = 6;
  std::vector<Config> configs;
  for (std::size_t i = 0; i < std::min(kMost, sorted.size()); ++i) {
    configs.push_back(sorted[i].config);
  }
  return configs;
}

}  // namespace tunedops::cuda
