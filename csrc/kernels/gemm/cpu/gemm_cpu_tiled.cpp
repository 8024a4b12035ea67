#include "kernels/gemm/cpu/gemm_cpu_tiled.h"

#include "kernels/gemm/cpu/isa_loops.h"
#include "kernels/gemm/cpu/skinny_pack.h"
#include "kernels/gemm/cpu/thread_counts.h"
#include "kernels/gemm/cpu/thread_scratch.h"
#include "kernels/gemm/cpu/tiled_product.h"
#include "tuning/divide_up.h"
#include "tuning/parallel_for.h"

#include <algorithm>
#include <new>

namespace tunedops {
namespace {

using cpu::Isa;
using cpu::kTileRows;
using cpu::Tile;
using cpu::TiledLoops;

struct Parameters {
  int vectors;
  int columns;
  int threads;
  int splits;
};

// Owners of memory.
struct Sums;
struct Parts;
struct Columns;

// Of a tile: so few that their sums stay in the first-level cache, or so many
// that strips of a are seldom turned over again.
constexpr int kColumns[] = {64, 256};

// Bytes of b that may have to be put into another form.
constexpr std::int64_t kMostPacked = 64 << 20;

// A part of k is at least so long, and a multiple of it.
constexpr std::int64_t kSplitGrain = 256;

const TiledLoops& loops_for(DType dtype, Isa isa) {
  using Loops = cpu::IsaLoops<TiledLoops>;
  static constexpr Loops kFloat32 =
      TUNEDOPS_ISA_LOOPS(cpu::kTiledFloat32, Avx512);
  static constexpr Loops kFloat16 =
      TUNEDOPS_ISA_LOOPS(cpu::kTiledFloat16, Avx512);
  static constexpr Loops kBfloat16 =
      TUNEDOPS_ISA_LOOPS(cpu::kTiledBfloat16, Avx512Bf16);
  switch (dtype) {
  case DType::kBFloat16:
    return kBfloat16.of(isa);
  case DType::kFloat16:
    return kFloat16.of(isa);
  default:
    return kFloat32.of(isa);
  }
}

std::int64_t row_tiles(const GemmProblem& p) {
  return divide_up(p.m, kTileRows);
}

std::int64_t tiles(const GemmProblem& p, int columns) {
  return row_tiles(p) * divide_up(p.n, columns);
}

std::int64_t k_of_split(const GemmProblem& p, int splits) {
  return divide_up(divide_up(p.k, splits), kSplitGrain) * kSplitGrain;
}

/// With so many columns of a tile.
void add_parameters(const GemmProblem& p, int columns,
                    std::vector<Parameters>& all) {
  constexpr double kWorthAThread = 1 << 14;  // multiply-adds
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) *
                      static_cast<double>(p.k) * static_cast<double>(p.batch);
  const int most = work < kWorthAThread ? 1 : p.header.threads;
  const std::int64_t pieces = tiles(p, columns) * p.batch;
  for (const int vectors : {4, 2, 1}) {
    for (const int threads : cpu::thread_counts(pieces, most)) {
      all.push_back({vectors, columns, threads, 1});
    }
    if (pieces >= most || (p.header.precision & kNoSplitK) != 0) {
      continue;
    }
    // So many parts that all threads have one, if they are long enough.
    const auto wanted = static_cast<int>(divide_up(most, pieces));
    const auto splits = static_cast<int>(divide_up(p.k, k_of_split(p, wanted)));
    if (splits > 1) {
      all.push_back({vectors, columns, most, splits});
    }
  }
}

std::vector<Parameters> all_parameters(const GemmProblem& p) {
  std::vector<Parameters> all;
  add_parameters(p, kColumns[0], all);
  if (p.n > kColumns[0]) {
    add_parameters(p, kColumns[1], all);
  }
  return all;
}

Config to_config(const Parameters& x) {
  return Config()
      .with("vectors", x.vectors)
      .with("columns", x.columns)
      .with("threads", x.threads)
      .with("splitk", x.splits);
}

class TiledPlan final : public Plan {
 public:
  TiledPlan(const GemmProblem& problem, const Parameters& parameters)
      : p_(problem), loops_(loops_for(problem.a_dtype, cpu::usable_isa())),
        x_(parameters),
        k_of_split_(x_.splits == 1 ? p_.k : k_of_split(p_, x_.splits)) {
    product_.lda = p_.lda;
    product_.ldc = p_.ldc;
    product_.bias_is_float = p_.bias_dtype == DType::kFloat32;
    product_.k = p_.k;
    product_.activation = p_.activation;
    product_.block = x_.vectors;
  }

  Status run(const Arguments& arguments, Stream) const override {
    const cpu::SkinnyProduct product = place(arguments);
    const void* const b = arguments.operands[kGemmB];
    bool may_have_written = false;
    try {
      if (p_.batch >= 2 * x_.threads && x_.splits == 1) {
        may_have_written = true;
        parallel_for(p_.batch, x_.threads,
                     [&](std::int64_t begin, std::int64_t end) {
                       multiply_matrices(product, b, begin, end);
                     });
      } else {
        float* const parts = memory_of_parts();
        for (std::int64_t z = 0; z < p_.batch; ++z) {
          const cpu::SkinnyProduct one = matrix(product, b, z, x_.threads);
          may_have_written = true;
          multiply_matrix(one, parts);
        }
      }
    } catch (const std::bad_alloc&) {
      if (may_have_written) {  // other threads, or other matrices
        throw StatusError(Status::failed("not enough memory for the sums"));
      }
      return Status::failed("not enough memory to rearrange an operand");
    }
    return Status::ok();
  }

 private:
  cpu::SkinnyProduct place(const Arguments& arguments) const {
    cpu::SkinnyProduct product = product_;
    product.a = arguments.operands[kGemmA];
    product.out = arguments.operands[kGemmOut];
    product.bias = p_.has_bias() ? arguments.operands[kGemmBias] : nullptr;
    product.alpha = scalar_of(p_.alpha, arguments.alpha);
    product.beta = scalar_of(p_.beta, arguments.beta);
    return product;
  }

  template <class Pointer>
  static Pointer moved(Pointer pointer, std::int64_t elements, DType dtype) {
    using Bytes =
        std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                           const char*, char*>;
    return static_cast<Bytes>(pointer) +
           elements * static_cast<std::int64_t>(size_of(dtype));
  }

  // One matrix of the batch, its b in the form that the loops want.
  cpu::SkinnyProduct matrix(const cpu::SkinnyProduct& all, const void* b,
                            std::int64_t z, int threads) const {
    cpu::SkinnyProduct product = all;
    product.a = moved(all.a, z * p_.stride_a, p_.a_dtype);
    product.out = moved(all.out, z * p_.stride_c, p_.out_dtype);
    const void* const b_of_matrix = moved(b, z * p_.stride_b, p_.b_dtype);
    const cpu::PackedColumns columns =
        p_.transpose_b
            ? turn_b(b_of_matrix, threads)
            : cpu::pack_columns(p_, b_of_matrix, loops_.widened_b, threads);
    product.b = columns.data;
    product.ldb = columns.ld;
    return product;
  }

  cpu::PackedColumns turn_b(const void* b, int threads) const {
    constexpr std::int64_t kGrain = 64;  // ks of a piece
    cpu::TurnedColumns columns;
    columns.b = b;
    columns.ldb = p_.ldb;
    columns.n = p_.n;
    columns.ld = divide_up(p_.k, kGrain) * kGrain;
    columns.to = cpu::thread_scratch<Columns>(
        size_of(b_dtype()) * static_cast<std::size_t>(columns.ld * p_.n));
    parallel_for(divide_up(p_.k, kGrain), threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   loops_.turn_b(columns, begin * kGrain,
                                 std::min(end * kGrain, p_.k));
                 });
    return {columns.to, columns.ld};
  }

  /// In the form of the loops.
  DType b_dtype() const {
    return loops_.widened_b ? DType::kFloat32 : p_.b_dtype;
  }

  /// Floats of the sums of a part.
  std::int64_t part() const { return std::int64_t{kTileRows} * x_.columns; }

  void multiply_matrices(const cpu::SkinnyProduct& all, const void* b,
                         std::int64_t begin, std::int64_t end) const {
    for (std::int64_t z = begin; z < end; ++z) {
      multiply_tiles(matrix(all, b, z, 1), nullptr, 0, tiles(p_, x_.columns));
    }
  }

  /// Null if nothing is split.
  float* memory_of_parts() const {
    const std::int64_t count = tiles(p_, x_.columns) * x_.splits;
    return x_.splits == 1
               ? nullptr
               : static_cast<float*>(cpu::thread_scratch<Parts>(
                     sizeof(float) * static_cast<std::size_t>(part() * count)));
  }

  void multiply_matrix(const cpu::SkinnyProduct& product, float* parts) const {
    const std::int64_t count = tiles(p_, x_.columns);
    parallel_for(count * x_.splits, x_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   multiply_tiles(product, parts, begin, end);
                 });
    if (parts == nullptr) {
      return;
    }
    parallel_for(count, x_.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        Tile tile = tile_at(product, i);
        tile.partial = parts + i * x_.splits * part();
        loops_.finish(tile, x_.splits, part());
      }
    });
  }

  // Parts of tiles, or whole tiles if nothing is split.
  void multiply_tiles(const cpu::SkinnyProduct& product, float* parts,
                      std::int64_t begin, std::int64_t end) const {
    auto* const scratch = static_cast<float*>(cpu::thread_scratch<Sums>(
        sizeof(float) *
        static_cast<std::size_t>(cpu::tile_scratch(x_.columns))));
    for (std::int64_t i = begin; i < end; ++i) {
      Tile tile = tile_at(product, i / x_.splits);
      const std::int64_t split = i % x_.splits;
      tile.scratch = scratch;
      tile.k_begin = split * k_of_split_;
      tile.k_end = std::min(tile.k_begin + k_of_split_, p_.k);
      tile.partial = parts == nullptr ? nullptr : parts + i * part();
      (p_.transpose_a ? loops_.transposed : loops_.straight)(tile);
    }
  }

  // Neighbours share columns of b.
  Tile tile_at(const cpu::SkinnyProduct& product, std::int64_t index) const {
    const std::int64_t down = row_tiles(p_);
    const std::int64_t column = index / down * x_.columns;
    Tile tile;
    tile.product = product;
    tile.product.n =
        static_cast<int>(std::min<std::int64_t>(x_.columns, p_.n - column));
    tile.product.b = moved(product.b, column * product.ldb, b_dtype());
    tile.product.out = moved(product.out, column * p_.ldc, p_.out_dtype);
    tile.row = index % down * kTileRows;
    tile.rows = std::min<std::int64_t>(kTileRows, p_.m - tile.row);
    return tile;
  }

  GemmProblem p_;
  const TiledLoops& loops_;
  Parameters x_;
  std::int64_t k_of_split_;
  cpu::SkinnyProduct product_;
};

}  // namespace

Status GemmCpuTiled::do_supports(const GemmProblem& p) const {
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) {
    return Status::unsupported("the product is empty");
  }
  const DType dtype = p.a_dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kBFloat16 &&
      dtype != DType::kFloat16) {
    return Status::unsupported("the type is not float, BFloat16 or Half");
  }
  if (p.b_dtype != dtype || p.out_dtype != dtype) {
    return Status::unsupported("a, b and out are not of one type");
  }
  if (p.has_bias() && p.bias_dtype != dtype &&
      p.bias_dtype != DType::kFloat32) {
    return Status::unsupported("the bias is neither of out's type nor float");
  }
  if (p.conjugate_a || p.conjugate_b) {
    return Status::unsupported("conjugated operands are not supported");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (p.m > kMost / p.n || p.n > kMost / p.k || p.batch > kMost / p.m ||
      tiles(p, kColumns[0]) > kMost / p.batch) {
    return Status::unsupported("the product is too large");
  }
  const bool packs =
      p.transpose_b || loops_for(dtype, cpu::usable_isa()).widened_b;
  if (packs &&
      p.n * p.k > kMostPacked / static_cast<std::int64_t>(sizeof(float))) {
    return Status::unsupported("b has to be rearranged and is larger than " +
                               std::to_string(kMostPacked >> 20) + " MiB");
  }
  return Status::ok();
}

std::vector<Config> GemmCpuTiled::do_configs(const GemmProblem& problem) const {
  std::vector<Config> configs;
  for (const Parameters& parameters : all_parameters(problem)) {
    configs.push_back(to_config(parameters));
  }
  return configs;
}

std::optional<Config>
GemmCpuTiled::do_heuristic(const GemmProblem& problem) const {
  (void)problem;
  return std::nullopt;  // libraries are good at most of these
}

std::unique_ptr<Plan> GemmCpuTiled::do_prepare(const GemmProblem& problem,
                                               const Config& config) const {
  for (const Parameters& parameters : all_parameters(problem)) {
    if (to_config(parameters) == config) {
      return std::make_unique<TiledPlan>(problem, parameters);
    }
  }
  return nullptr;
}

}  // namespace tunedops
