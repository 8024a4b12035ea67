#include "kernels/gemm/cuda/sm80_config.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/gemm/cuda/half_product_support.h"
#include "kernels/gemm/cuda/sm80_strip.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "tuning/plan.h"

namespace tunedops::cuda {
namespace {

// Of the instruction's rows and columns.
struct Tile {
  int rows;
  int columns;
};
constexpr Tile kTiles[] = {{64, 64}, {64, 128}, {128, 128}};

constexpr int kMostStages = 8;
constexpr int kLeastStages = 2;
constexpr int kMostUsualStages = 4;
constexpr int kMostSplits = 64;

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

bool is_aligned(const GemmProblem& p, const Sm80Access& x, std::uint8_t align) {
  constexpr int kBytes = 16;
  const int elements = kBytes / static_cast<int>(size_of(p.a_dtype));
  return align >= kBytes && x.line_stride % elements == 0 &&
         x.matrix_stride % elements == 0;
}

// One line is apart from nothing, and so is one matrix: where the next would be
// does not matter.
Sm80Access access(const GemmProblem& p, bool k_is_contiguous, std::int64_t side,
                  std::int64_t ld, std::int64_t stride, std::uint8_t align) {
  Sm80Access x;
  x.k_is_contiguous = k_is_contiguous;
  x.length = k_is_contiguous ? p.k : side;
  x.lines = k_is_contiguous ? side : p.k;
  x.line_stride = x.lines > 1 ? ld : 0;
  x.matrix_stride = p.batch > 1 ? stride : 0;
  x.is_aligned = is_aligned(p, x, align);
  return x;
}

Tile tile_of(const Sm80Parameters& x) {
  return x.turned ? Tile{x.tile_m, x.tile_n} : Tile{x.tile_n, x.tile_m};
}

bool is_tile(const Sm80Parameters& x) {
  const Tile tile = tile_of(x);
  return std::any_of(std::begin(kTiles), std::end(kTiles), [&](const Tile& t) {
    return t.rows == tile.rows && t.columns == tile.columns;
  });
}

bool can_run(const GemmProblem& p, const Sm80Limits& limits,
             const Sm80Parameters& x) {
  if (!is_tile(x) || x.stages < kLeastStages || x.stages > kMostStages ||
      x.splits < 1 || x.splits > kMostSplits ||
      sm80_block_bytes(p, x) > limits.shared_bytes) {
    return false;
  }
  const std::int64_t tiles = sm80_tiles(p, x);
  if (tiles > std::numeric_limits<std::int32_t>::max() / p.batch / x.splits) {
    return false;
  }
  return x.splits == 1 ||
         ((p.header.precision & kNoSplitK) == 0 &&
          x.splits <= divide_up(p.k, kSm80StageK) &&
          tiles * p.batch <= static_cast<std::int64_t>(kMostCounters) &&
          sm80_workspace_bytes(p, x) <= limits.workspace_cap);
}

}  // namespace

Sm80Layout sm80_layout(const GemmProblem& p) {
  Sm80Layout layout{
      access(p, p.transpose_a, p.m, p.lda, p.stride_a, p.align_a),
      access(p, !p.transpose_b, p.n, p.ldb, p.stride_b, p.align_b)};
  // Of raw lines along k ks are taken in an order that the tensor cores' reads
  // of such lines do not have. See sm80_raw.h.
  if (layout.a.k_is_contiguous && layout.b.k_is_contiguous) {
    const bool both = layout.a.is_aligned && layout.b.is_aligned;
    layout.a.is_aligned = both;
    layout.b.is_aligned = both;
  }
  return layout;
}

Config to_config(const Sm80Parameters& x) {
  return Config()
      .with("tile", {x.tile_m, x.tile_n, kSm80StageK})
      .with("stages", x.stages)
      .with("splitk", x.splits)
      .with("turned", x.turned ? 1 : 0);
}

Status sm80_supports(const GemmProblem& p, const Sm80Limits& limits) {
  if (Status half = supports_half_product(p); !half.is_ok()) {
    return half;
  }
  const Sm80Parameters largest{.stages = kLeastStages};
  return can_run(p, limits, largest)
             ? Status::ok()
             : Status::unsupported("the product has too many tiles");
}

int sm80_usual_stages(const GemmProblem& p, const Sm80Parameters& x,
                      const Sm80Limits& limits) {
  Sm80Parameters fewer = x;
  fewer.stages = kMostUsualStages;
  while (fewer.stages > kLeastStages &&
         2 * sm80_block_bytes(p, fewer) > limits.shared_bytes) {
    --fewer.stages;
  }
  return fewer.stages;
}

std::vector<Sm80Parameters> all_sm80_parameters(const GemmProblem& p,
                                                const Sm80Limits& limits) {
  std::vector<Sm80Parameters> all;
  const auto add = [&](Sm80Parameters x) {
    if (can_run(p, limits, x)) {
      all.push_back(x);
    }
  };
  const auto add_splits = [&](Sm80Parameters x) {
    x.splits = 1;
    add(x);
    if (sm80_tiles(p, x) * p.batch >= limits.multiprocessors) {
      return;  // all have work
    }
    for (const int splits : kSplitCounts) {
      x.splits = splits;
      add(x);
    }
  };
  for (const bool turned : {false, true}) {
    for (const Tile& tile : kTiles) {
      Sm80Parameters x{.tile_m = turned ? tile.rows : tile.columns,
                       .tile_n = turned ? tile.columns : tile.rows,
                       .turned = turned};
      const int usual = sm80_usual_stages(p, x, limits);
      x.stages = usual;
      add_splits(x);
      for (const int stages : {2, 3, 4, 6}) {
        if (stages != usual) {
          x.stages = stages;
          add_splits(x);
        }
      }
    }
  }
  return all;
}

std::optional<Sm80Parameters> sm80_from_config(const GemmProblem& p,
                                               const Sm80Limits& limits,
                                               const Config& config) {
  const auto number = [](const std::vector<std::int64_t>& values,
                         std::size_t i) {
    constexpr std::int64_t kMost = 1 << 10;
    return static_cast<int>(
        i < values.size() ? std::clamp<std::int64_t>(values[i], 0, kMost) : 0);
  };
  try {
    const Sm80Parameters x{.tile_m = number(config.values("tile"), 0),
                           .tile_n = number(config.values("tile"), 1),
                           .stages = number(config.values("stages"), 0),
                           .splits = number(config.values("splitk"), 0),
                           .turned = number(config.values("turned"), 0) == 1};
    if (to_config(x) == config && can_run(p, limits, x)) {
      return x;
    }
  } catch (const std::out_of_range&) {  // a parameter is missing
  }
  return std::nullopt;
}

std::int64_t sm80_tiles(const GemmProblem& p, const Sm80Parameters& x) {
  return divide_up(p.m, x.tile_m) * divide_up(p.n, x.tile_n);
}

std::size_t sm80_block_bytes(const GemmProblem& p, const Sm80Parameters& x) {
  const Sm80Layout layout = sm80_layout(p);
  const auto part_bytes = [](const Sm80Access& access, int side) {
    return sm80_part_bytes(side, access.k_is_contiguous, access.is_aligned);
  };
  const Tile tile = tile_of(x);
  return sm80_shared_bytes(tile.rows, tile.columns,
                           part_bytes(layout.a, x.tile_m) +
                               part_bytes(layout.b, x.tile_n),
                           x.stages);
}

std::size_t sm80_workspace_bytes(const GemmProblem& p,
                                 const Sm80Parameters& x) {
  if (x.splits == 1) {
    return 0;
  }
  return sizeof(float) *
         static_cast<std::size_t>(sm80_tiles(p, x) * p.batch * x.splits *
                                  x.tile_m * x.tile_n);
}

}  // namespace tunedops::cuda
