#include "kernels/gemm/cuda/sm90_config.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/gemm/cuda/half_product_support.h"
#include "kernels/gemm/cuda/packed_lines.h"
#include "kernels/gemm/cuda/sm90_strip.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

// Of the instruction's rows and columns.
struct Tile {
  int rows;
  int columns;
};
constexpr Tile kTiles[] = {
    {128, 64}, {128, 128}, {128, 192}, {128, 256}, {256, 128}};

constexpr int kMostStages = 8;
constexpr int kLeastStages = 2;
constexpr int kMostSplits = 64;

// The copy engine's distances are below 2^40 bytes, also that of every eighth
// line.
constexpr std::int64_t kMostStride = (std::int64_t{1} << 36) - 1;

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

bool is_multiple_of_16_bytes(std::int64_t elements, DType dtype) {
  return elements % (16 / static_cast<std::int64_t>(size_of(dtype))) == 0;
}

Sm90Access access(const GemmProblem& p, bool k_is_contiguous, std::int64_t side,
                  std::int64_t ld, std::int64_t stride, std::uint8_t align) {
  Sm90Access x;
  x.k_is_contiguous = k_is_contiguous;
  x.length = k_is_contiguous ? p.k : side;
  x.lines = k_is_contiguous ? side : p.k;
  x.line_stride = ld;
  x.matrix_stride = stride;
  x.by_class =
      align < 16 || (x.lines > 1 && !is_multiple_of_16_bytes(ld, p.a_dtype));
  return x;
}

bool has_unaligned_matrices(const GemmProblem& p, const Sm90Access& x) {
  return p.batch > 1 && !is_multiple_of_16_bytes(x.matrix_stride, p.a_dtype);
}

void pack(Sm90Access& x) {
  x.by_class = false;
  x.line_stride = packed_line_stride(x.length);
  x.matrix_stride = x.matrix_stride == 0 ? 0 : x.lines * x.line_stride;
}

// Whether the copy engine can bring it as it lies, or packed.
bool can_copy(const GemmProblem& p, const Sm90Access& x) {
  return (x.lines == 1 || x.line_stride >= x.length) &&
         !has_unaligned_matrices(p, x);
}

bool takes_ks_by_class(const Sm90Access& x) {
  return x.by_class && !x.k_is_contiguous;
}

Sm90Access access_of_a(const GemmProblem& p) {
  return access(p, p.transpose_a, p.m, p.lda, p.stride_a, p.align_a);
}

Sm90Access access_of_b(const GemmProblem& p) {
  return access(p, !p.transpose_b, p.n, p.ldb, p.stride_b, p.align_b);
}

// What needs no packing is not packed.
bool may_pack(const GemmProblem& p, const Sm90Access& x) {
  return x.by_class || has_unaligned_matrices(p, x);
}

bool can_copy_both(const GemmProblem& p, const Sm90Parameters& x) {
  if ((x.packs_a && !may_pack(p, access_of_a(p))) ||
      (x.packs_b && !may_pack(p, access_of_b(p)))) {
    return false;
  }
  const Sm90Layout layout = sm90_layout(p, x);
  return can_copy(p, layout.a) && can_copy(p, layout.b) &&
         takes_ks_by_class(layout.a) == takes_ks_by_class(layout.b);
}

int most_stages(const Sm90Parameters& x) {
  int stages = kMostStages;
  while (stages > 0 && sm90_shared_bytes(sm90_stage_bytes(x), stages) >
                           kSm90MostSharedBytes) {
    --stages;
  }
  return stages;
}

bool is_tile(const Sm90Parameters& x) {
  const Tile tile =
      x.turned ? Tile{x.tile_m, x.tile_n} : Tile{x.tile_n, x.tile_m};
  return std::any_of(std::begin(kTiles), std::end(kTiles), [&](const Tile& t) {
    return t.rows == tile.rows && t.columns == tile.columns;
  });
}

bool can_run(const GemmProblem& p, std::size_t workspace_cap,
             const Sm90Parameters& x) {
  const bool is_cluster = (x.cluster_m == 1 || x.cluster_m == 2) &&
                          (x.cluster_n == 1 || x.cluster_n == 2) &&
                          x.cluster_m * x.cluster_n <= 2;
  if (!is_tile(x) || !is_cluster || x.stages < kLeastStages ||
      x.stages > most_stages(x) || x.splits < 1 || x.splits > kMostSplits) {
    return false;
  }
  const std::int64_t tiles = sm90_tiles(p, x);
  if (tiles > std::numeric_limits<std::int32_t>::max() / p.batch / x.splits) {
    return false;
  }
  if (!can_copy_both(p, x) || sm90_workspace_bytes(p, x) > workspace_cap) {
    return false;
  }
  return x.splits == 1 ||
         ((p.header.precision & kNoSplitK) == 0 &&
          x.splits <= divide_up(p.k, kSm90StageK) &&
          tiles * p.batch <= static_cast<std::int64_t>(kMostCounters));
}

}  // namespace

Sm90Layout sm90_layout(const GemmProblem& p, const Sm90Parameters& x) {
  Sm90Layout layout{access_of_a(p), access_of_b(p)};
  if (x.packs_a) {
    pack(layout.a);
  }
  if (x.packs_b) {
    pack(layout.b);
  }
  // Where lines are ks, both operands must have them in the same order.
  if (!layout.a.k_is_contiguous && !layout.b.k_is_contiguous) {
    layout.a.by_class = layout.b.by_class =
        layout.a.by_class || layout.b.by_class;
  }
  return layout;
}

Config to_config(const Sm90Parameters& x) {
  return Config()
      .with("tile", {x.tile_m, x.tile_n, kSm90StageK})
      .with("cluster", {x.cluster_m, x.cluster_n})
      .with("stages", x.stages)
      .with("splitk", x.splits)
      .with("turned", x.turned ? 1 : 0)
      .with("pack", {x.packs_a ? 1 : 0, x.packs_b ? 1 : 0});
}

Status sm90_supports(const GemmProblem& p, std::size_t workspace_cap) {
  if (Status half = supports_half_product(p); !half.is_ok()) {
    return half;
  }
  for (const Sm90Access& x : {access_of_a(p), access_of_b(p)}) {
    if (x.lines > 1 && x.line_stride < x.length) {
      return Status::unsupported("lines of an operand overlap");
    }
    if (x.line_stride > kMostStride || x.matrix_stride > kMostStride) {
      return Status::unsupported(
          "lines or matrices of an operand are more than 2^36 elements apart");
    }
  }
  const auto can_run_packed = [&](bool packs_a, bool packs_b) {
    return can_run(p, workspace_cap,
                   {.tile_m = 256,
                    .tile_n = 128,
                    .stages = kLeastStages,
                    .packs_a = packs_a,
                    .packs_b = packs_b});
  };
  return can_run_packed(false, false) || can_run_packed(true, false) ||
                 can_run_packed(false, true) || can_run_packed(true, true)
             ? Status::ok()
             : Status::unsupported(
                   "the product has too many tiles, or operands that have to "
                   "be packed and take more workspace than is allowed");
}

std::vector<Sm90Parameters> all_sm90_parameters(const GemmProblem& p,
                                                int multiprocessors,
                                                std::size_t workspace_cap) {
  std::vector<Sm90Parameters> all;
  const auto add = [&](Sm90Parameters x) {
    for (const auto& [packs_a, packs_b] :
         {std::pair{false, false}, std::pair{true, false},
          std::pair{false, true}, std::pair{true, true}}) {
      x.packs_a = packs_a;
      x.packs_b = packs_b;
      if (can_run(p, workspace_cap, x)) {
        all.push_back(x);
      }
    }
  };
  for (const bool turned : {false, true}) {
    for (const Tile& tile : kTiles) {
      Sm90Parameters x{.tile_m = turned ? tile.rows : tile.columns,
                       .tile_n = turned ? tile.columns : tile.rows,
                       .turned = turned};
      x.stages = most_stages(x);
      for (const auto& [cluster_m, cluster_n] :
           {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) {
        x.cluster_m = cluster_m;
        x.cluster_n = cluster_n;
        x.splits = 1;
        add(x);
        if (sm90_tiles(p, x) * p.batch >= multiprocessors) {
          continue;  // all have work
        }
        for (const int splits : kSplitCounts) {
          x.splits = splits;
          add(x);
        }
      }
    }
  }
  return all;
}

std::optional<Sm90Parameters> sm90_from_config(const GemmProblem& p,
                                               std::size_t workspace_cap,
                                               const Config& config) {
  const auto number = [](const std::vector<std::int64_t>& values,
                         std::size_t i) {
    constexpr std::int64_t kMost = 1 << 10;
    return static_cast<int>(
        i < values.size() ? std::clamp<std::int64_t>(values[i], 0, kMost) : 0);
  };
  try {
    const Sm90Parameters x{.tile_m = number(config.values("tile"), 0),
                           .tile_n = number(config.values("tile"), 1),
                           .cluster_m = number(config.values("cluster"), 0),
                           .cluster_n = number(config.values("cluster"), 1),
                           .stages = number(config.values("stages"), 0),
                           .splits = number(config.values("splitk"), 0),
                           .turned = number(config.values("turned"), 0) == 1,
                           .packs_a = number(config.values("pack"), 0) == 1,
                           .packs_b = number(config.values("pack"), 1) == 1};
    if (to_config(x) == config && can_run(p, workspace_cap, x)) {
      return x;
    }
  } catch (const std::out_of_range&) {  // a parameter is missing
  }
  return std::nullopt;
}

bool sm90_surely_wins(const GemmProblem& p) {
  constexpr std::int64_t kManyMultiplyAdds = std::int64_t{1} << 30;
  const bool is_unaligned =
      may_pack(p, access_of_a(p)) || may_pack(p, access_of_b(p)) ||
      !is_multiple_of_16_bytes(p.ldc, p.out_dtype) || p.align_out < 16;
  return is_unaligned && p.m >= 64 && p.n >= 64 &&
         static_cast<double>(p.m) * static_cast<double>(p.n) *
                 static_cast<double>(p.k) * static_cast<double>(p.batch) >=
             static_cast<double>(kManyMultiplyAdds);
}

std::int64_t sm90_tiles(const GemmProblem& p, const Sm90Parameters& x) {
  return divide_up(divide_up(p.m, x.tile_m), x.cluster_m) * x.cluster_m *
         divide_up(divide_up(p.n, x.tile_n), x.cluster_n) * x.cluster_n;
}

std::size_t sm90_stage_bytes(const Sm90Parameters& x) {
  return static_cast<std::size_t>(x.tile_m + x.tile_n) * kSm90StageK *
         2;  // bytes of an element
}

std::size_t sm90_partial_bytes(const GemmProblem& p, const Sm90Parameters& x) {
  if (x.splits == 1) {
    return 0;
  }
  return sizeof(float) *
         static_cast<std::size_t>(sm90_tiles(p, x) * p.batch * x.splits *
                                  x.tile_m * x.tile_n);
}

// A multiple of 16; as many as are never allowed if they are too many to count.
std::size_t sm90_packed_bytes(const GemmProblem& p, const Sm90Access& x) {
  constexpr std::size_t kFar = std::size_t{1} << 60;
  const std::int64_t matrices = x.matrix_stride == 0 ? 1 : p.batch;
  const auto line = size_of(p.a_dtype) *
                    static_cast<std::size_t>(packed_line_stride(x.length));
  const auto lines = static_cast<std::size_t>(x.lines * matrices);
  return lines > kFar / line ? kFar : lines * line;
}

std::size_t sm90_workspace_bytes(const GemmProblem& p,
                                 const Sm90Parameters& x) {
  const Sm90Layout layout = sm90_layout(p, x);
  return sm90_partial_bytes(p, x) +
         (x.packs_a ? sm90_packed_bytes(p, layout.a) : 0) +
         (x.packs_b ? sm90_packed_bytes(p, layout.b) : 0);
}

}  // namespace tunedops::cuda
