#include "kernels/gemm/cuda/skinny_config.h"

#include <algorithm>
#include <limits>
#include <span>

#include "kernels/gemm/cuda/operand_support.h"
#include "tuning/config_number.h"
#include "tuning/divide_up.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

constexpr std::int64_t kSplitGrain = 128;       // ks
constexpr std::size_t kSharedBytes = 48 << 10;  // that every GPU gives unasked
constexpr int kMostSplits = 64;

struct Warps {
  int wide;
  int k;
};
// Warps along k share the sums of their rows, and so make blocks small enough
// to spread evenly. Only a short k has to do without.
constexpr Warps kWarps[] = {{1, 4}, {1, 8}, {1, 2}};
constexpr Warps kWarpsOfShortK[] = {{2, 1}, {4, 1}, {2, 2}, {1, 4}};
constexpr std::int64_t kShortK = 512;

// Warps of a multiprocessor that keep its memory busy: with fewer, splitting k
// is worth adding the splits up, which costs little within a cluster and more
// through memory; with far fewer, not splitting is not worth a try.
constexpr std::int64_t kBusy = 7;
constexpr std::int64_t kBusyThroughMemory = 3;
constexpr std::int64_t kIdle = 3;

std::int64_t wide_count(const GemmProblem& p) { return std::max(p.m, p.n); }
int narrow_count(const GemmProblem& p) {
  return static_cast<int>(std::min<std::int64_t>(p.m, p.n));
}

/// Rows that a warp can compute, best guess first.
std::vector<int> row_choices(const GemmProblem& p) {
  const SkinnyVariant variant = skinny_variant(p);
  if (!variant.k_is_contiguous) {
    return {p.a_dtype == DType::kFloat32 ? 32 : 64};
  }
  if (!variant.wide_is_vector || !variant.narrow_is_vector) {
    return {16};
  }
  return {16, 32};
}

bool can_run(const GemmProblem& p, const SkinnyLimits& limits,
             const SkinnyParameters& x) {
  const std::vector<int> rows = row_choices(p);
  if (std::find(rows.begin(), rows.end(), x.rows) == rows.end() ||
      x.warps_wide < 1 || x.warps_k < 1 || x.splits < 1 ||
      x.splits > kMostSplits ||
      (x.splits > 1 && (p.header.precision & kNoSplitK) != 0) ||
      (x.cluster != 1 && x.cluster != x.splits) ||
      x.cluster > limits.most_cluster ||
      32 * x.warps_wide * x.warps_k > kMostSkinnyThreads ||
      skinny_shared_bytes(x.warps_k, x.rows * x.warps_wide, narrow_count(p)) >
          kSharedBytes) {
    return false;
  }
  const std::int64_t tiles = skinny_tiles(p, x);
  if (tiles > std::numeric_limits<std::int32_t>::max() / p.batch) {
    return false;
  }
  const bool counts = x.splits != x.cluster;
  return x.splits == 1 ||
         ((!counts ||
           tiles * p.batch <= static_cast<std::int64_t>(kMostCounters)) &&
          (x.splits - 1) * skinny_k_of_split(p, x.splits) < p.k);
}

// As it is, and with the least splits that keep the GPU busy.
std::vector<SkinnyParameters> split_choices(const GemmProblem& p,
                                            const SkinnyLimits& limits,
                                            const SkinnyParameters& unsplit) {
  const std::int64_t warps =
      skinny_tiles(p, unsplit) * p.batch * unsplit.warps_wide * unsplit.warps_k;
  const std::int64_t multiprocessors = limits.multiprocessors;
  std::vector<SkinnyParameters> choices;
  if (warps >= kIdle * multiprocessors) {
    choices.push_back(unsplit);
  }
  if (warps >= kBusy * multiprocessors) {
    return choices;
  }
  SkinnyParameters split = unsplit;
  for (const int splits : {2, 3, 4, 6, 8, 16, 32, 64}) {
    split.splits = splits;
    split.cluster = splits <= limits.most_cluster ? splits : 1;
    const std::int64_t wanted = split.cluster > 1 ? kBusy : kBusyThroughMemory;
    if (warps * splits >= wanted * multiprocessors) {
      break;
    }
  }
  choices.push_back(split);
  return choices;
}

}  // namespace

SkinnyVariant skinny_variant(const GemmProblem& p) {
  SkinnyVariant v;
  v.wide_is_a = p.m >= p.n;
  // Of a single row or column both are.
  const bool a_has_k_contiguous = p.transpose_a || (p.m == 1 && p.lda == 1);
  const bool b_has_k_contiguous = !p.transpose_b || (p.n == 1 && p.ldb == 1);
  const auto is_vector = [&](std::uint8_t align, bool is_single,
                             std::int64_t ld, std::int64_t stride) {
    return align >= 16 && (is_single || is_multiple_of(16, ld, p.a_dtype)) &&
           (p.batch == 1 || is_multiple_of(16, stride, p.a_dtype));
  };
  const bool a_is_vector =
      is_vector(p.align_a, p.m == 1 && a_has_k_contiguous, p.lda, p.stride_a);
  const bool b_is_vector =
      is_vector(p.align_b, p.n == 1 && b_has_k_contiguous, p.ldb, p.stride_b);
  v.k_is_contiguous = v.wide_is_a ? a_has_k_contiguous : b_has_k_contiguous;
  v.wide_is_vector = v.wide_is_a ? a_is_vector : b_is_vector;
  v.narrow_is_vector = v.wide_is_a ? b_is_vector && b_has_k_contiguous
                                   : a_is_vector && a_has_k_contiguous;
  if (!v.k_is_contiguous) {
    v.wide_is_vector =
        v.wide_is_vector && is_multiple_of(16, wide_count(p), p.a_dtype);
  }
  return v;
}

Config to_config(const SkinnyParameters& x) {
  return Config()
      .with("rows", x.rows)
      .with("warps", {x.warps_wide, x.warps_k})
      .with("splitk", x.splits)
      .with("cluster", x.cluster);
}

Status skinny_supports(const GemmProblem& p) {
  if (p.a_dtype != DType::kBFloat16 && p.a_dtype != DType::kFloat16 &&
      p.a_dtype != DType::kFloat32) {
    return Status::unsupported("the type is not BFloat16, Half or float");
  }
  if (Status operands = supports_operands(p); !operands.is_ok()) {
    return operands;
  }
  if (std::min(p.m, p.n) > kMostNarrow) {
    return Status::unsupported("neither m nor n is in 1 to 32");
  }
  const SkinnyParameters smallest{.rows = row_choices(p).front(),
                                  .warps_wide = 1,
                                  .warps_k = 1,
                                  .splits = 1};
  return can_run(p, {}, smallest)
             ? Status::ok()
             : Status::unsupported("the batch is too large");
}

std::vector<SkinnyParameters> skinny_parameters(const GemmProblem& p,
                                                const SkinnyLimits& limits) {
  const std::span<const Warps> all_warps =
      p.k <= kShortK ? std::span<const Warps>(kWarpsOfShortK)
                     : std::span<const Warps>(kWarps);
  std::vector<SkinnyParameters> all;
  for (const int rows : row_choices(p)) {
    for (const Warps warps : all_warps) {
      const SkinnyParameters unsplit{
          .rows = rows, .warps_wide = warps.wide, .warps_k = warps.k};
      for (const SkinnyParameters& x : split_choices(p, limits, unsplit)) {
        if (can_run(p, limits, x)) {
          all.push_back(x);
        }
      }
    }
  }
  if (all.empty()) {
    all.push_back({.rows = row_choices(p).front(), .warps_k = 1});
  }
  return all;
}

std::vector<SkinnyParameters>
all_skinny_parameters(const GemmProblem& p, const SkinnyLimits& limits) {
  constexpr int kMostWarps = kMostSkinnyThreads / 32;
  std::vector<SkinnyParameters> all;
  const auto add = [&](const SkinnyParameters& x) {
    if (can_run(p, limits, x)) {
      all.push_back(x);
    }
  };
  for (const int rows : row_choices(p)) {
    for (int wide = 1; wide <= kMostWarps; wide *= 2) {
      for (int k = 1; wide * k <= kMostWarps; k *= 2) {
        SkinnyParameters x{.rows = rows, .warps_wide = wide, .warps_k = k};
        add(x);
        for (const int splits :
             {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64}) {
          x.splits = splits;
          x.cluster = 1;
          add(x);
          if (splits <= limits.most_cluster) {
            x.cluster = splits;
            add(x);
          }
        }
      }
    }
  }
  return all;
}

bool skinny_surely_wins(const GemmProblem& p) {
  constexpr std::int64_t kManyWeights = 4 << 20;
  const SkinnyVariant variant = skinny_variant(p);
  return size_of(p.a_dtype) == 2 && p.batch == 1 && variant.k_is_contiguous &&
         variant.wide_is_vector && variant.narrow_is_vector &&
         narrow_count(p) <= 16 && wide_count(p) >= kManyWeights / p.k &&
         (!is_multiple_of(16, p.ldc, p.out_dtype) || p.align_out < 16);
}

std::optional<SkinnyParameters> skinny_from_config(const GemmProblem& p,
                                                   const SkinnyLimits& limits,
                                                   const Config& config) {
  const SkinnyParameters x{.rows = config_number(config, "rows"),
                           .warps_wide = config_number(config, "warps", 0),
                           .warps_k = config_number(config, "warps", 1),
                           .splits = config_number(config, "splitk"),
                           .cluster = config_number(config, "cluster")};
  return to_config(x) == config && can_run(p, limits, x) ? std::optional(x)
                                                         : std::nullopt;
}

std::int64_t skinny_tiles(const GemmProblem& p, const SkinnyParameters& x) {
  return divide_up(wide_count(p), std::int64_t{x.rows} * x.warps_wide);
}

std::int64_t skinny_k_of_split(const GemmProblem& p, int splits) {
  return divide_up(divide_up(p.k, splits), kSplitGrain) * kSplitGrain;
}

SplitTiles skinny_splits(const GemmProblem& p, const SkinnyParameters& x) {
  return {.tile = {x.rows * x.warps_wide, narrow_count(p)},
          .tiles = skinny_tiles(p, x),
          .batch = p.batch,
          .splits = x.splits,
          .meet_in_memory = x.splits != x.cluster};
}

}  // namespace tunedops::cuda
