#include "kernels/gemm/cuda/cublaslt_cost.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm/cuda/cluster_share.h"

namespace tunedops::cuda {
namespace {

// Fitted to some 50,000 measurements of 34 products on an H200, mostly of
// bfloat16; in microseconds. Factors that another GPU or type has in common
// for all algorithms do no harm.
constexpr double kLaunch = 4.3;
constexpr double kMultiply = 0.28 / (128 * 128);  // of a step, per element
constexpr double kTwoConsumers = 1.12;            // times as long
constexpr double kUneven = 1.06;    // so are sides that are no multiples of 64
constexpr double kBring = 0.00122;  // of a step, per row and column
constexpr double kLeastStep = 0.083;
constexpr double kBlock = 0.19;            // to begin and to end one
constexpr double kWrite = 3.7e-5;          // of a block, per element
constexpr double kSplit = 3;               // to start adding splits up
constexpr double kPerSplit = 0.05;         // one after the other
constexpr double kSplitBytes = 8 / 3.4e6;  // per element of a split
// Blocks of a cluster share what they bring, but not to the full.
constexpr double kShare = 0.25;

constexpr double kStepBytes = 128;  // along k

// Of two things that overlap the longer one counts, and a little of the other.
constexpr double kOverlapOfStep = 5;

double blocks_along(std::int64_t length, int tile, int cluster) {
  const std::int64_t blocks = (length + tile - 1) / tile;
  return static_cast<double>((blocks + cluster - 1) / cluster * cluster);
}

}  // namespace

TilingCost::TilingCost(const GemmProblem& p, int multiprocessors,
                       double bytes_per_us)
    : problem_(p), multiprocessors_(multiprocessors) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto bytes = static_cast<double>(size_of(p.a_dtype));
  k_steps_ = k * bytes / kStepBytes;
  memory_us_ = (bytes * (m * k + n * k) +
                static_cast<double>(size_of(p.out_dtype)) * m * n) *
               static_cast<double>(p.batch) / bytes_per_us;
}

double TilingCost::step_us(const Tiling& x) const {
  const bool is_uneven = x.tile.m % 64 != 0 || x.tile.n % 64 != 0;
  const double multiply = kMultiply * x.tile.m * x.tile.n *
                          (x.consumers > 1 ? kTwoConsumers : 1) *
                          (is_uneven ? kUneven : 1);
  const double bring = kBring * (x.tile.m / std::pow(x.cluster.n, kShare) +
                                 x.tile.n / std::pow(x.cluster.m, kShare));
  return std::pow(std::pow(multiply, kOverlapOfStep) +
                      std::pow(bring, kOverlapOfStep) +
                      std::pow(kLeastStep, kOverlapOfStep),
                  1 / kOverlapOfStep);
}

double TilingCost::blocks(const Tiling& x) const {
  return blocks_along(problem_.m, x.tile.m, x.cluster.m) *
         blocks_along(problem_.n, x.tile.n, x.cluster.n) *
         static_cast<double>(problem_.batch);
}

// Multiprocessors that blocks of such clusters get.
double TilingCost::usable(const Tiling& x) const {
  return usable_multiprocessors(multiprocessors_, x.cluster.m * x.cluster.n);
}

int TilingCost::splits_of_a_wave(const Tiling& x) const {
  return static_cast<int>(usable(x) / blocks(x));
}

double TilingCost::total_us(const Tiling& x, double step_us, int splits) const {
  const double elements = x.tile.m * x.tile.n;
  const double work =
      std::ceil(blocks(x) * splits / usable(x)) *
      (std::ceil(k_steps_ / splits) * step_us + kBlock + kWrite * elements);
  const double squares = work * work;
  const double memory_squares = memory_us_ * memory_us_;
  const double both =
      std::sqrt(std::sqrt(squares * squares + memory_squares * memory_squares));
  const double outputs = static_cast<double>(problem_.m) *
                         static_cast<double>(problem_.n) *
                         static_cast<double>(problem_.batch);
  const double adding =
      splits > 1 ? kSplit + (kPerSplit + kSplitBytes * outputs) * splits : 0;
  return kLaunch + both + adding;
}

}  // namespace tunedops::cuda
