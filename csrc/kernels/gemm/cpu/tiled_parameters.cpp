#include "kernels/gemm/cpu/tiled_parameters.h"

#include "kernels/gemm/cpu/isa_loops.h"
#include "kernels/gemm/cpu/thread_counts.h"
#include "tuning/divide_up.h"

namespace tunedops::cpu {
namespace {

// Columns of a tile: so few that their sums stay in the first-level cache, or
// so many that strips of a are seldom turned over again.
constexpr int kColumns[] = {64, 256};

// A part of k is at least so long, and a multiple of it.
constexpr std::int64_t kSplitGrain = 256;

double work(const GemmProblem& p) {  // multiply-adds
  return static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.k) * static_cast<double>(p.batch);
}

/// With tiles like those of x, by any number of threads.
void add_threads(const GemmProblem& p, TiledParameters x,
                 std::vector<TiledParameters>& all) {
  constexpr double kWorthAThread = 1 << 14;
  const int most = work(p) < kWorthAThread ? 1 : p.header.threads;
  const std::int64_t pieces = tiles(p, x) * p.batch;
  x.splits = 1;
  for (const int threads : thread_counts(pieces, most)) {
    x.threads = threads;
    all.push_back(x);
  }
  if (pieces >= most || (p.header.precision & kNoSplitK) != 0) {
    return;
  }
  // So many parts that all threads have one, if they are long enough.
  const auto wanted = static_cast<int>(divide_up(most, pieces));
  x.splits = static_cast<int>(divide_up(p.k, k_of_split(p, wanted)));
  if (x.splits > 1) {
    x.threads = most;
    all.push_back(x);
  }
}

// It takes b in whole panels, which may be larger than b by far.
bool may_use_amx(const GemmProblem& p) {
#if defined(__x86_64__)
  return multiplies_tiles(p.a_dtype) &&
         rearranged_length(p.k) * rearranged_columns(p.n) <=
             kMostPackedColumns / 2;
#else
  (void)p;
  return false;
#endif
}

void add_amx(const GemmProblem& p, std::vector<TiledParameters>& all) {
  for (const int rows : {64, 256}) {
    for (const int columns : kColumns) {
      const bool is_larger_than_needed =
          (rows > 64 && p.m <= 64) || (columns > 64 && p.n <= 64);
      if (!is_larger_than_needed && rows <= columns) {
        add_threads(p, {0, rows, columns, 1, 1}, all);
      }
    }
  }
}

/// So large that vectors cannot keep up: no time is spent on measuring them.
/// Not where tiles are mostly filled up with zeros, nor where b is rearranged
/// for a single strip of a.
bool is_for_amx_only(const GemmProblem& p) {
  constexpr double kLarge = 1 << 20;  // multiply-adds of one matrix
  return p.m >= kTileRows && p.n >= 16 && p.k >= 32 &&
         work(p) / static_cast<double>(p.batch) >= kLarge;
}

const TiledLoops& vector_loops(DType dtype, Isa isa) {
  using Loops = IsaLoops<TiledLoops>;
  static constexpr Loops kFloat32 = TUNEDOPS_ISA_LOOPS(kTiledFloat32, Avx512);
  static constexpr Loops kFloat16 = TUNEDOPS_ISA_LOOPS(kTiledFloat16, Avx512);
  static constexpr Loops kBfloat16 =
      TUNEDOPS_ISA_LOOPS(kTiledBfloat16, Avx512Bf16);
  switch (dtype) {
  case DType::kBFloat16:
    return kBfloat16.of(isa);
  case DType::kFloat16:
    return kFloat16.of(isa);
  default:
    return kFloat32.of(isa);
  }
}

}  // namespace

std::int64_t row_tiles(const GemmProblem& p, const TiledParameters& x) {
  return divide_up(p.m, x.rows);
}

std::int64_t tiles(const GemmProblem& p, const TiledParameters& x) {
  return row_tiles(p, x) * divide_up(p.n, x.columns);
}

std::int64_t rearranged_length(std::int64_t k) {
  return divide_up(k, kRearrangedGrain) * kRearrangedGrain;
}

std::int64_t rearranged_columns(std::int64_t n) {
  constexpr std::int64_t kPanel = 16;
  return divide_up(n, kPanel) * kPanel;
}

std::int64_t k_of_split(const GemmProblem& p, int splits) {
  return divide_up(divide_up(p.k, splits), kSplitGrain) * kSplitGrain;
}

std::vector<TiledParameters> tiled_parameters(const GemmProblem& p) {
  std::vector<TiledParameters> all;
  if (may_use_amx(p)) {
    add_amx(p, all);
    if (is_for_amx_only(p)) {
      return all;
    }
  }
  for (const int columns : kColumns) {
    if (columns > kColumns[0] && p.n <= kColumns[0]) {
      continue;
    }
    for (const int vectors : {4, 2, 1}) {
      add_threads(p, {vectors, kTileRows, columns, 1, 1}, all);
    }
  }
  return all;
}

Config to_config(const TiledParameters& x) {
  const Config strips = x.has_amx() ? Config().with("rows", x.rows)
                                    : Config().with("vectors", x.vectors);
  return strips.with("columns", x.columns)
      .with("threads", x.threads)
      .with("splitk", x.splits);
}

const TiledLoops& tiled_loops(const GemmProblem& p,
                              [[maybe_unused]] const TiledParameters& x) {
#if defined(__x86_64__)
  if (x.has_amx()) {
    return kTiledBfloat16Amx;
  }
#endif
  return vector_loops(p.a_dtype, usable_isa());
}

}  // namespace tunedops::cpu
