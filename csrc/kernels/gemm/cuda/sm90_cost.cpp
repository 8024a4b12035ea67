#include "kernels/gemm/cuda/sm90_cost.h"

#include <cmath>

#include "kernels/gemm/cuda/cluster_share.h"
#include "tuning/divide_up.h"

namespace tunedops::cuda {
namespace {

// Fitted to 3,872 measurements of 49 products on an H200, in microseconds, of
// which the best config was among the twelve that it puts first, or within 2 %
// of the best of those; what clusters take to add splits up was fitted anew, to
// 565 measurements of 17 products.
constexpr double kLaunch = 2.8;
constexpr double kMultiply = 2.34e-5;  // of a step, per element
constexpr double kBring = 0.00117;     // of a step, per row and column
constexpr double kShift = 0.0043;      // the same, if it is shifted as well
constexpr double kLeastStep = 0.22;
constexpr double kBlock = 0.63;             // to begin and to end one
constexpr double kWrite = 9.4e-6;           // of a block, per element
constexpr double kWriteUnaligned = 5e-5;    // where lines begin anywhere
constexpr double kSplit = 0.62;             // to start adding splits up
constexpr double kPerSplit = 0.41;          // one after the other
constexpr double kSplitElement = 2.8e-6;    // per element of a split
constexpr double kClusterSplit = 1.4;       // the same in a cluster
constexpr double kClusterElement = 2.1e-4;  // per element of a tile
// Of stream-K, fitted to 382 measurements of 27 products: each block adds up
// sums, and blocks that are at different ks find less of an operand cached.
constexpr double kStreamElement = 1.75e-4;  // per element of a tile
constexpr double kStreamOfTile = 1.55;      // per stream that has a part of it
constexpr double kStreamStep = 1.2;         // times what a step takes else
constexpr double kPack = 2.3;               // to pack operands first
constexpr double kPackedByte = 1.1e-7;      // much of it is cached
constexpr double kMemory = 0.64;  // of the memory's speed, in practice
// Blocks of a cluster share what they bring, but not to the full.
constexpr double kShare = 0.25;
constexpr double kOverlapOfStep = 5;  // see cublaslt_cost.cpp
constexpr double kOverlapOfMemory = 4;

double both(double left, double right, double overlap) {
  return std::pow(std::pow(left, overlap) + std::pow(right, overlap),
                  1 / overlap);
}

double step_us(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = sm90_layout(p, x);
  const double shifted = (layout.a.is_aligned ? 0 : x.tile_m) +
                         (layout.b.is_aligned ? 0 : x.tile_n);
  const double bring = kBring * (x.tile_m / std::pow(x.cluster_n, kShare) +
                                 x.tile_n / std::pow(x.cluster_m, kShare)) +
                       kShift * shifted;
  return both(both(kMultiply * x.tile_m * x.tile_n, bring, kOverlapOfStep),
              kLeastStep, kOverlapOfStep);
}

// Of a multiprocessor.
struct Work {
  double tiles;  // that it begins
  double steps;
};

Work work_of(const GemmProblem& p, const Sm90Parameters& x,
             int multiprocessors) {
  const SplitTiles splits = sm90_splits(p, x);
  const double usable = usable_multiprocessors(
      multiprocessors, x.cluster_m * x.cluster_n * x.cluster_k);
  const double rounds =
      std::ceil(static_cast<double>(splits.blocks()) / usable);
  const std::int64_t k_steps = divide_up(p.k, kSm90StageK);
  if (x.streams == 0) {
    return {rounds, rounds * static_cast<double>(divide_up(k_steps, x.splits))};
  }
  const double tiles =
      static_cast<double>(splits.tiles * splits.batch) / x.streams;
  // Streams begin and end within tiles.
  return {rounds * (std::floor(tiles) + 1),
          rounds * kStreamStep *
              std::ceil(tiles * static_cast<double>(k_steps))};
}

double add_splits_us(const GemmProblem& p, const Sm90Parameters& x) {
  const double tile = x.tile_m * x.tile_n;
  if (x.cluster_k > 1) {
    return kClusterSplit + kClusterElement * tile;
  }
  if (x.streams > 0) {
    const SplitTiles splits = sm90_splits(p, x);
    const double of_tile = x.streams / static_cast<double>(splits.streamed());
    return kSplit + kStreamOfTile * of_tile + kStreamElement * tile;
  }
  return x.splits > 1
             ? kSplit + (kPerSplit + kSplitElement * static_cast<double>(p.m) *
                                         static_cast<double>(p.n) *
                                         static_cast<double>(p.batch)) *
                            x.splits
             : 0;
}

}  // namespace

double sm90_cost_us(const GemmProblem& p, const Sm90Parameters& x,
                    int multiprocessors, double bytes_per_us) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto batch = static_cast<double>(p.batch);
  const bool has_aligned_lines =
      p.align_out >= 16 && (p.n == 1 || p.ldc % 8 == 0);
  const double write =
      (has_aligned_lines || x.aside ? kWrite : kWriteUnaligned) * x.tile_m *
      x.tile_n / x.cluster_k;
  const auto [tiles, steps] = work_of(p, x, multiprocessors);
  const double work = steps * step_us(p, x) + tiles * (kBlock + write);
  const auto bytes = static_cast<double>(size_of(p.a_dtype));
  const double memory = (bytes * (m * k + n * k) +
                         static_cast<double>(size_of(p.out_dtype)) * m * n) *
                        batch / (kMemory * bytes_per_us);
  double us =
      kLaunch + both(work, memory, kOverlapOfMemory) + add_splits_us(p, x);
  if (x.packed) {
    us += kPack + kPackedByte * static_cast<double>(sm90_packed(p, x).bytes());
  }
  return us;
}

}  // namespace tunedops::cuda
