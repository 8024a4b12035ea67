#include "kernels/gemm/cuda/sm90_config.h"

#include <algorithm>

#include "kernels/gemm/cuda/half_product_support.h"
#include "kernels/gemm/cuda/instruction_tile.h"
#include "kernels/gemm/cuda/tile_schedule.h"
#include "tuning/config_number.h"
#include "tuning/divide_up.h"

namespace tunedops::cuda {
namespace {

constexpr InstructionTile kTiles[] = {
    {128, 64}, {128, 128}, {128, 192}, {128, 256}, {256, 128}};

constexpr int kLeastStages = 2;

// The copy engine's distances are below 2^40 bytes, also that of every eighth
// line.
constexpr std::int64_t kMostStride = (std::int64_t{1} << 36) - 1;

// Blocks of a cluster share what the copy engine brings. Those above each other
// have their columns in common.
bool can_share(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = sm90_layout(p, x);
  return (x.cluster_m == 1 || layout.b.is_aligned) &&
         (x.cluster_n == 1 || layout.a.is_aligned);
}

int least_output_bytes(const Sm90Parameters& x) {
  return x.aside ? sm90_results_bytes(x.tile_n, x.tile_m)
                 : sm90_strips_bytes(1);
}

int most_stages(const GemmProblem& p, const Sm90Parameters& x) {
  int stages = kSm90MostStages;
  const int output_bytes = least_output_bytes(x);
  while (stages > 0 && sm90_shared_bytes(sm90_stage_bytes(p, x), stages,
                                         output_bytes) > kSm90MostSharedBytes) {
    --stages;
  }
  return stages;
}

bool is_tile(const Sm90Parameters& x) {
  const InstructionTile tile = to_instruction({x.tile_m, x.tile_n}, x.turned);
  return std::ranges::find(kTiles, tile) != std::end(kTiles);
}

// Sums lie where the stages were.
bool can_meet_in_cluster(const GemmProblem& p, const Sm90Parameters& x) {
  if (x.cluster_k == 1) {
    return true;
  }
  const auto sums = sizeof(float) * static_cast<std::size_t>(x.tile_m) *
                    static_cast<std::size_t>(x.tile_n);
  return x.cluster_k == x.splits && x.cluster_k <= kSm90MostClusterSplits &&
         x.cluster_m * x.cluster_n == 1 &&
         sums <= sm90_stage_bytes(p, x) * static_cast<std::size_t>(x.stages);
}

bool is_aligned(const GemmProblem& p) {
  const HalfLayout layout = half_layout(p);
  return layout.a.is_aligned && layout.b.is_aligned;
}

// Copies, and the sums of streams, are larger than what libraries want
// workspace for, so they have a cap of their own unless the problem says what
// it is.
std::size_t own_cap(const GemmProblem& p) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr std::size_t kMost = 512 * kMiB;
  return p.workspace_mib != 0 ? p.workspace_mib * kMiB : kMost;
}

// Before all that multiplies them as integers.
bool is_larger_than(const PackedLines& x, std::size_t bytes) {
  return 2.0 * static_cast<double>(packed_pitch(x.length)) *
             static_cast<double>(x.lines) * static_cast<double>(x.matrices) >
         static_cast<double>(bytes);
}

bool can_pack(const GemmProblem& p, const Sm90Parameters& x) {
  if (!x.packed) {
    return true;
  }
  const std::size_t cap = own_cap(p);
  const std::size_t of_one = std::min(cap, kMostPackedBytes);
  const HalfLayout layout = half_layout(p);
  for (const HalfLines& lines : {layout.a, layout.b}) {
    if (!lines.is_aligned &&
        is_larger_than(sm90_lines_to_pack(p, lines), of_one)) {
      return false;
    }
  }
  return !is_aligned(p) &&
         sm90_splits_bytes(p, x) + sm90_packed(p, x).bytes() <= cap;
}

bool can_stream(const Sm90Parameters& x) {
  return x.streams == 0 || (!x.aside && x.cluster_k == 1 &&
                            x.streams % (x.cluster_m * x.cluster_n) == 0);
}

std::size_t aligned_up(std::int64_t bytes) {
  return static_cast<std::size_t>(divide_up(bytes, kSm90PackedAlign) *
                                  kSm90PackedAlign);
}

// As they are after packing.
HalfLines packed(HalfLines x) {
  const std::int64_t pitch = packed_pitch(x.length);
  x.is_aligned = true;
  x.line_stride = x.lines > 1 ? pitch : 0;
  x.matrix_stride = x.matrix_stride != 0 ? pitch * x.lines : 0;
  return x;
}

// What needs no more than to be scaled, biased or cut at zero: see
// Sm90Results::can_finish, which says the same of an output.
bool has_plain_results(const GemmProblem& p) {
  return p.out_dtype == p.a_dtype && p.beta == ScalarClass::kZero &&
         (p.activation == Activation::kNone ||
          p.activation == Activation::kRelu);
}

// By warps that have no operands to shift.
bool can_write_aside(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = sm90_layout(p, x);
  return !x.aside ||
         (!x.turned && x.splits == 1 && !sm90_writes_boxes(p) &&
          has_plain_results(p) && layout.a.is_aligned && layout.b.is_aligned);
}

bool can_run(const GemmProblem& p, std::size_t workspace_cap,
             const Sm90Parameters& x) {
  const bool is_cluster = (x.cluster_m == 1 || x.cluster_m == 2) &&
                          (x.cluster_n == 1 || x.cluster_n == 2) &&
                          x.cluster_m * x.cluster_n <= 2 &&
                          can_meet_in_cluster(p, x);
  return is_tile(x) && is_cluster && x.stages >= kLeastStages &&
         x.stages <= most_stages(p, x) && can_share(p, x) &&
         can_split(p, sm90_splits(p, x), divide_up(p.k, kSm90StageK),
                   x.streams > 0 ? own_cap(p) : workspace_cap) &&
         can_stream(x) && can_pack(p, x) && can_write_aside(p, x);
}

}  // namespace

Config to_config(const Sm90Parameters& x) {
  const Config config =
      Config()
          .with("tile", {x.tile_m, x.tile_n, kSm90StageK})
          .with("cluster", {x.cluster_m, x.cluster_n, x.cluster_k})
          .with("stages", x.stages)
          .with("splitk", x.splits)
          .with("turned", x.turned ? 1 : 0)
          .with("packed", x.packed ? 1 : 0);
  if (x.aside) {
    return config.with("aside", 1);
  }
  return x.streams > 0 ? config.with("streamk", x.streams) : config;
}

Status sm90_supports(const GemmProblem& p, std::size_t workspace_cap) {
  if (Status half = supports_half_product(p); !half.is_ok()) {
    return half;
  }
  const HalfLayout layout = half_layout(p);
  for (const HalfLines& x : {layout.a, layout.b}) {
    if (x.lines > 1 && x.line_stride < x.length) {
      return Status::unsupported("lines of an operand overlap");
    }
    if (!is_multiple_of(16, x.matrix_stride, p.a_dtype)) {
      return Status::unsupported(
          "matrices of a batch are no multiples of 16 bytes apart");
    }
    if (x.line_stride > kMostStride || x.matrix_stride > kMostStride) {
      return Status::unsupported(
          "lines or matrices of an operand are 2^36 elements apart or more");
    }
  }
  return can_run(p, workspace_cap, {.stages = kLeastStages})
             ? Status::ok()
             : Status::unsupported("the product has too many tiles");
}

std::vector<Sm90Parameters> all_sm90_parameters(const GemmProblem& p,
                                                int multiprocessors,
                                                std::size_t workspace_cap) {
  std::vector<Sm90Parameters> all;
  const auto add = [&](const Sm90Parameters& x) {
    if (can_run(p, workspace_cap, x)) {
      all.push_back(x);
    }
  };
  // Where blocks have tiles to multiply meanwhile.
  const auto add_aside = [&](Sm90Parameters x) {
    x.aside = sm90_splits(p, x).blocks() > multiprocessors;
    if (x.aside) {
      x.stages = most_stages(p, x);
      add(x);
    }
  };
  // Where some blocks would have a tile less than others, and tiles are few.
  const auto add_streams = [&](Sm90Parameters x) {
    constexpr int kMostRounds = 8;
    constexpr int kMostStreamsOfTile = 8;
    const std::int64_t tiles = sm90_splits(p, x).blocks();
    const int cluster = x.cluster_m * x.cluster_n;
    x.streams = multiprocessors / cluster * cluster;
    if (tiles < kMostRounds * x.streams &&
        tiles * kMostStreamsOfTile >= x.streams) {
      add(x);
    }
  };
  // Of a tile, all that a search may want to try.
  const auto add_all = [&](const InstructionTile& tile, bool turned,
                           bool packed) {
    const auto [tile_m, tile_n] = to_problem(tile, turned);
    Sm90Parameters x{
        .tile_m = tile_m, .tile_n = tile_n, .turned = turned, .packed = packed};
    x.stages = most_stages(p, x);
    for (const auto& [cluster_m, cluster_n] :
         {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) {
      x.cluster_m = cluster_m;
      x.cluster_n = cluster_n;
      x.splits = x.cluster_k = 1;
      add(x);
      add_streams(x);
      if (sm90_splits(p, x).blocks() >= multiprocessors) {
        add_aside(x);
        continue;  // all have work
      }
      for (const int splits : kSplitCounts) {
        x.splits = splits;
        x.cluster_k = 1;
        add(x);
        x.cluster_k = splits;
        add(x);
      }
    }
  };
  for (const bool turned : {false, true}) {
    for (const InstructionTile& tile : kTiles) {
      add_all(tile, turned, false);
      add_all(tile, turned, true);
    }
  }
  return all;
}

std::optional<Sm90Parameters> sm90_from_config(const GemmProblem& p,
                                               std::size_t workspace_cap,
                                               const Config& config) {
  const Sm90Parameters x{.tile_m = config_number(config, "tile", 0),
                         .tile_n = config_number(config, "tile", 1),
                         .cluster_m = config_number(config, "cluster", 0),
                         .cluster_n = config_number(config, "cluster", 1),
                         .cluster_k = config_number(config, "cluster", 2),
                         .stages = config_number(config, "stages"),
                         .splits = config_number(config, "splitk"),
                         .turned = config_number(config, "turned") == 1,
                         .packed = config_number(config, "packed") == 1,
                         .aside = config_number(config, "aside") == 1,
                         .streams = config_number(config, "streamk")};
  return to_config(x) == config && can_run(p, workspace_cap, x)
             ? std::optional(x)
             : std::nullopt;
}

bool sm90_surely_wins(const GemmProblem& p) {
  constexpr std::int64_t kManyMultiplyAdds = std::int64_t{1} << 30;
  const bool is_unaligned = !is_aligned(p) ||
                            !is_multiple_of(16, p.ldc, p.out_dtype) ||
                            p.align_out < 16;
  return is_unaligned && p.m >= 64 && p.n >= 64 &&
         static_cast<double>(p.m) * static_cast<double>(p.n) *
                 static_cast<double>(p.k) * static_cast<double>(p.batch) >=
             static_cast<double>(kManyMultiplyAdds);
}

HalfLayout sm90_layout(const GemmProblem& p, const Sm90Parameters& x) {
  HalfLayout layout = half_layout(p);
  for (HalfLines* lines : {&layout.a, &layout.b}) {
    if (x.packed && !lines->is_aligned) {
      *lines = packed(*lines);
    }
  }
  return layout;
}

PackedLines sm90_lines_to_pack(const GemmProblem& p, const HalfLines& x) {
  return {.length = x.length,
          .lines = x.lines,
          .line_stride = x.line_stride,
          .matrices = x.matrix_stride != 0 ? p.batch : 1,
          .matrix_stride = x.matrix_stride};
}

Sm90Packed sm90_packed(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = half_layout(p);
  const auto bytes = [&](const HalfLines& lines) {
    return x.packed && !lines.is_aligned
               ? aligned_up(packed_bytes(sm90_lines_to_pack(p, lines)))
               : 0;
  };
  return {bytes(layout.a), bytes(layout.b)};
}

std::size_t sm90_splits_bytes(const GemmProblem& p, const Sm90Parameters& x) {
  return aligned_up(
      static_cast<std::int64_t>(sm90_splits(p, x).workspace_bytes()));
}

SplitTiles sm90_splits(const GemmProblem& p, const Sm90Parameters& x) {
  const std::int64_t clusters = divide_up(p.m, x.tile_m * x.cluster_m) *
                                divide_up(p.n, x.tile_n * x.cluster_n);
  return {.tile = {x.tile_m, x.tile_n},
          .tiles = clusters * x.cluster_m * x.cluster_n,
          .batch = p.batch,
          .splits = x.splits,
          .meet_in_memory = x.splits != x.cluster_k,
          .streams = x.streams};
}

std::size_t sm90_stage_bytes(const GemmProblem& p, const Sm90Parameters& x) {
  const HalfLayout layout = sm90_layout(p, x);
  const auto bytes = [](const HalfLines& access, int side) {
    const int pieces = side / kPiece;
    const int raw =
        access.is_aligned ? 0 : sm90_raw_bytes(pieces, access.k_is_contiguous);
    return static_cast<std::size_t>(pieces * kPieceBytes + raw);
  };
  return bytes(layout.a, x.tile_m) + bytes(layout.b, x.tile_n);
}

bool sm90_writes_boxes(const GemmProblem& p) {
  const auto can_stride = [&](std::int64_t count, std::int64_t stride) {
    return count == 1 ||
           (is_multiple_of(16, stride, p.out_dtype) && stride <= kMostStride);
  };
  // It writes 16 bytes at a time, also where a line ends before they do.
  return has_plain_results(p) && p.align_out >= 16 &&
         is_multiple_of(16, p.m, p.out_dtype) && can_stride(p.n, p.ldc) &&
         can_stride(p.batch, p.stride_c);
}

int sm90_strip_buffers(const GemmProblem& p, const Sm90Parameters& x) {
  return sm90_writes_boxes(p) &&
                 sm90_shared_bytes(sm90_stage_bytes(p, x), x.stages,
                                   sm90_strips_bytes(2)) <= kSm90MostSharedBytes
             ? 2
             : 1;
}

int sm90_output_bytes(const GemmProblem& p, const Sm90Parameters& x) {
  return x.aside ? least_output_bytes(x)
                 : sm90_strips_bytes(sm90_strip_buffers(p, x));
}

}  // namespace tunedops::cuda
