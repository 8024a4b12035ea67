#include "kernels/gemm/cpu/gemm_cpu_tiled.h"

#include "kernels/gemm/cpu/skinny_pack.h"
#include "kernels/gemm/cpu/thread_scratch.h"
#include "kernels/gemm/cpu/tiled_parameters.h"
#include "tuning/divide_up.h"
#include "tuning/parallel_for.h"

#include <algorithm>
#include <new>

namespace tunedops {
namespace {

using cpu::Tile;
using cpu::TiledLoops;
using cpu::TiledParameters;

// Owners of memory.
struct Sums;
struct Parts;
struct Columns;

/// What a thread has to do around its tiles.
class InTiles {
 public:
  explicit InTiles(const TiledLoops& loops) : loops_(loops) {
    if (loops_.amx != nullptr) {
      loops_.amx->enter();
    }
  }

  ~InTiles() {
    if (loops_.amx != nullptr) {
      loops_.amx->leave();
    }
  }

  InTiles(const InTiles&) = delete;
  InTiles& operator=(const InTiles&) = delete;

 private:
  const TiledLoops& loops_;
};

class TiledPlan final : public Plan {
 public:
  TiledPlan(const GemmProblem& problem, const TiledParameters& parameters)
      : p_(problem), loops_(cpu::tiled_loops(problem, parameters)),
        x_(parameters),
        k_of_split_(x_.splits == 1 ? p_.k : cpu::k_of_split(p_, x_.splits)) {
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
    const cpu::TurnFunction rearrange = rearranging();
    const cpu::PackedColumns columns =
        rearrange != nullptr
            ? rearranged(rearrange, b_of_matrix, threads)
            : cpu::pack_columns(p_, b_of_matrix, loops_.widened_b, threads);
    product.b = columns.data;
    product.ldb = columns.ld;
    return product;
  }

  /// Null: the loops take b as pack_columns makes it, mostly as it lies.
  cpu::TurnFunction rearranging() const {
    if (const cpu::AmxSteps* const amx = loops_.amx) {
      return p_.transpose_a
                 ? (p_.transpose_b ? amx->pair_rows : amx->pair_columns)
                 : (p_.transpose_b ? amx->run_rows : amx->run_columns);
    }
    return p_.transpose_b ? loops_.turn_b : nullptr;
  }

  cpu::PackedColumns rearranged(cpu::TurnFunction rearrange, const void* b,
                                int threads) const {
    cpu::TurnedColumns columns;
    columns.b = b;
    columns.ldb = p_.ldb;
    columns.n = p_.n;
    columns.ld = cpu::rearranged_length(p_.k);
    const std::int64_t count =
        loops_.amx != nullptr ? cpu::rearranged_columns(p_.n) : p_.n;
    columns.to = cpu::thread_scratch<Columns>(
        size_of(b_dtype()) * static_cast<std::size_t>(columns.ld * count));
    rearrange_all(rearrange, columns, threads);
    return {columns.to, columns.ld};
  }

  // In pieces along k and, where those are too few for all threads, along n.
  void rearrange_all(cpu::TurnFunction rearrange, const cpu::TurnedColumns& all,
                     int threads) const {
    constexpr std::int64_t kGrain = cpu::kRearrangedGrain;
    constexpr std::int64_t kColumnGrain = 64;
    const std::int64_t k_pieces = all.ld / kGrain;
    const std::int64_t wanted = threads == 1 ? 1 : divide_up(threads, k_pieces);
    const std::int64_t width =
        divide_up(divide_up(p_.n, wanted), kColumnGrain) * kColumnGrain;
    const std::int64_t pieces = k_pieces * divide_up(p_.n, width);
    parallel_for(pieces, threads, [&](std::int64_t piece, std::int64_t end) {
      while (piece < end) {
        const std::int64_t column = piece / k_pieces * width;
        const std::int64_t first = piece % k_pieces;
        const std::int64_t last = std::min(k_pieces, first + end - piece);
        cpu::TurnedColumns some = all;
        some.b =
            moved(all.b, column * (p_.transpose_b ? 1 : p_.ldb), p_.b_dtype);
        some.to = moved(all.to, column * all.ld, b_dtype());
        some.n = std::min(width, p_.n - column);
        rearrange(some, first * kGrain, std::min(last * kGrain, p_.k));
        piece += last - first;
      }
    });
  }

  /// In the form of the loops.
  DType b_dtype() const {
    return loops_.widened_b ? DType::kFloat32 : p_.b_dtype;
  }

  /// Floats of the sums of a part.
  std::int64_t part() const { return std::int64_t{x_.rows} * x_.columns; }

  void multiply_matrices(const cpu::SkinnyProduct& all, const void* b,
                         std::int64_t begin, std::int64_t end) const {
    const InTiles in_tiles(loops_);
    for (std::int64_t z = begin; z < end; ++z) {
      multiply_tiles(matrix(all, b, z, 1), nullptr, 0, cpu::tiles(p_, x_));
    }
  }

  /// Null if nothing is split.
  float* memory_of_parts() const {
    const std::int64_t count = cpu::tiles(p_, x_) * x_.splits;
    return x_.splits == 1
               ? nullptr
               : static_cast<float*>(cpu::thread_scratch<Parts>(
                     sizeof(float) * static_cast<std::size_t>(part() * count)));
  }

  void multiply_matrix(const cpu::SkinnyProduct& product, float* parts) const {
    const std::int64_t count = cpu::tiles(p_, x_);
    parallel_for(count * x_.splits, x_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   const InTiles in_tiles(loops_);
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
    const std::int64_t floats = x_.has_amx()
                                    ? cpu::amx_tile_scratch(x_.rows, x_.columns)
                                    : cpu::tile_scratch(x_.columns);
    auto* const scratch = static_cast<float*>(cpu::thread_scratch<Sums>(
        sizeof(float) * static_cast<std::size_t>(floats)));
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
    const std::int64_t down = cpu::row_tiles(p_, x_);
    const std::int64_t column = index / down * x_.columns;
    Tile tile;
    tile.product = product;
    tile.product.n =
        static_cast<int>(std::min<std::int64_t>(x_.columns, p_.n - column));
    tile.product.b = moved(product.b, column * product.ldb, b_dtype());
    tile.product.out = moved(product.out, column * p_.ldc, p_.out_dtype);
    tile.row = index % down * x_.rows;
    tile.rows = std::min<std::int64_t>(x_.rows, p_.m - tile.row);
    tile.stride = x_.rows;
    return tile;
  }

  GemmProblem p_;
  const TiledLoops& loops_;
  TiledParameters x_;
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
  constexpr TiledParameters smallest{1, cpu::kTileRows, 64, 1, 1};
  if (p.m > kMost / p.n || p.n > kMost / p.k || p.batch > kMost / p.m ||
      cpu::tiles(p, smallest) > kMost / p.batch) {
    return Status::unsupported("the product is too large");
  }
  const bool packs = p.transpose_b || cpu::tiled_loops(p, smallest).widened_b;
  constexpr std::int64_t kMostPacked = cpu::kMostPackedColumns;
  if (packs &&
      p.n * p.k > kMostPacked / static_cast<std::int64_t>(sizeof(float))) {
    return Status::unsupported("b has to be rearranged and is larger than " +
                               std::to_string(kMostPacked >> 20) + " MiB");
  }
  return Status::ok();
}

std::vector<Config> GemmCpuTiled::do_configs(const GemmProblem& problem) const {
  std::vector<Config> configs;
  for (const TiledParameters& x : cpu::tiled_parameters(problem)) {
    configs.push_back(to_config(x));
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
  for (const TiledParameters& x : cpu::tiled_parameters(problem)) {
    if (to_config(x) == config) {
      return std::make_unique<TiledPlan>(problem, x);
    }
  }
  return nullptr;
}

}  // namespace tunedops
