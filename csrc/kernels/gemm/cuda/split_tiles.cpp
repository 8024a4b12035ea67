#include "kernels/gemm/cuda/split_tiles.h"

#include <limits>

#include "kernels/gemm/cuda/tile_streams.h"
#include "tuning/divide_up.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr int kMostSplits = 64;
constexpr std::int64_t kMostInteger = std::numeric_limits<std::int32_t>::max();

// Streams are worth what they cost where some tiles are left over, and few
// enough where no more of them meet in a tile than splits may.
bool can_stream(const SplitTiles& x, std::int64_t k_steps) {
  const std::int64_t tiles = x.streamed();
  if (x.splits != 1 || x.tiles * x.batch % x.streams == 0 ||
      k_steps > kMostInteger / tiles || tiles * k_steps < x.streams) {
    return false;
  }
  const std::int64_t shortest = tiles * k_steps / x.streams;
  return divide_up(k_steps, shortest) + 1 <= kMostSplits;
}

}  // namespace

std::int64_t SplitTiles::streamed() const {
  return streams > 0 ? streamed_tiles(static_cast<int>(tiles * batch), streams)
                     : 0;
}

std::size_t SplitTiles::counters() const {
  if (streams > 0) {
    return static_cast<std::size_t>(streamed());
  }
  return meet_in_memory ? static_cast<std::size_t>(tiles * batch) : 0;
}

std::size_t SplitTiles::workspace_bytes() const {
  // Streams may end and begin within tiles.
  const std::int64_t sums =
      streams > 0 ? 2 * streams : (meet_in_memory ? blocks() : 0);
  return sizeof(float) * static_cast<std::size_t>(sums * tile.m * tile.n);
}

bool can_split(const GemmProblem& p, const SplitTiles& x, std::int64_t k_steps,
               std::size_t workspace_cap) {
  if (x.splits < 1 || x.splits > kMostSplits || x.streams < 0) {
    return false;
  }
  // Before all that multiplies them.
  if (x.tiles > kMostInteger / x.batch / x.splits) {
    return false;
  }
  if (x.splits == 1 && x.streams == 0) {
    return true;
  }
  if ((p.header.precision & kNoSplitK) != 0 ||
      x.streams > static_cast<int>(kMostCounters)) {
    return false;
  }
  return (x.streams > 0 ? can_stream(x, k_steps) : x.splits <= k_steps) &&
         x.counters() <= kMostCounters && x.workspace_bytes() <= workspace_cap;
}

}  // namespace tunedops::cuda
