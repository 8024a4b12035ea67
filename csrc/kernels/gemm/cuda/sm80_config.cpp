#include "kernels/gemm/cuda/sm80_config.h"

#include <algorithm>

#include "kernels/gemm/cuda/half_product_support.h"
#include "kernels/gemm/cuda/instruction_tile.h"
#include "kernels/gemm/cuda/sm80_strip.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "tuning/config_number.h"
#include "tuning/divide_up.h"

namespace tunedops::cuda {
namespace {

constexpr InstructionTile kTiles[] = {{64, 64}, {64, 128}, {128, 128}};

constexpr int kMostStages = 8;
constexpr int kLeastStages = 2;
constexpr int kMostUsualStages = 4;

InstructionTile tile_of(const Sm80Parameters& x) {
  return to_instruction({x.tile_m, x.tile_n}, x.turned);
}

bool can_run(const GemmProblem& p, const Sm80Limits& limits,
             const Sm80Parameters& x) {
  return std::ranges::find(kTiles, tile_of(x)) != std::end(kTiles) &&
         x.stages >= kLeastStages && x.stages <= kMostStages &&
         sm80_block_bytes(p, x) <= limits.shared_bytes &&
         can_split(p, sm80_splits(p, x), divide_up(p.k, kSm80StageK),
                   limits.workspace_cap);
}

}  // namespace

HalfLayout sm80_layout(const GemmProblem& p) {
  HalfLayout layout = half_layout(p);
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
    if (sm80_splits(p, x).blocks() >= limits.multiprocessors) {
      return;  // all have work
    }
    for (const int splits : kSplitCounts) {
      x.splits = splits;
      add(x);
    }
  };
  for (const bool turned : {false, true}) {
    for (const InstructionTile& tile : kTiles) {
      const auto [tile_m, tile_n] = to_problem(tile, turned);
      Sm80Parameters x{.tile_m = tile_m, .tile_n = tile_n, .turned = turned};
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
  const Sm80Parameters x{.tile_m = config_number(config, "tile", 0),
                         .tile_n = config_number(config, "tile", 1),
                         .stages = config_number(config, "stages"),
                         .splits = config_number(config, "splitk"),
                         .turned = config_number(config, "turned") == 1};
  return to_config(x) == config && can_run(p, limits, x) ? std::optional(x)
                                                         : std::nullopt;
}

SplitTiles sm80_splits(const GemmProblem& p, const Sm80Parameters& x) {
  return {.tile = {x.tile_m, x.tile_n},
          .tiles = divide_up(p.m, x.tile_m) * divide_up(p.n, x.tile_n),
          .batch = p.batch,
          .splits = x.splits,
          .meet_in_memory = x.splits > 1};
}

std::size_t sm80_block_bytes(const GemmProblem& p, const Sm80Parameters& x) {
  const HalfLayout layout = sm80_layout(p);
  const auto part_bytes = [](const HalfLines& lines, int side) {
    return sm80_part_bytes(side, lines.k_is_contiguous, lines.is_aligned);
  };
  const InstructionTile tile = tile_of(x);
  return sm80_shared_bytes(tile.rows, tile.columns,
                           part_bytes(layout.a, x.tile_m) +
                               part_bytes(layout.b, x.tile_n),
                           x.stages);
}

}  // namespace tunedops::cuda
