#include "kernels/gemm/cpu/skinny_pack.h"

#include "kernels/gemm/cpu/half.h"
#include "kernels/gemm/cpu/thread_scratch.h"
#include "tuning/parallel_for.h"

#include <algorithm>
#include <bit>

namespace tunedops::cpu {
namespace {

struct Columns;  // the owner of the memory

float convert(float x, float) { return x; }

std::uint16_t convert(std::uint16_t x, std::uint16_t) { return x; }

float convert(Half x, float) { return to_float(x); }

float convert(std::uint16_t x, float) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

template <class To, class From>
PackedColumns pack(const GemmProblem& problem, const void* b, int threads) {
  constexpr std::int64_t kLine = 64 / sizeof(To);
  // Runs of k that one thread packs. Below that, waking others takes longer.
  constexpr std::int64_t kPiece = 4096;
  const std::int64_t ld = (problem.k + kLine - 1) / kLine * kLine;
  const std::int64_t step_k = problem.transpose_b ? problem.ldb : 1;
  const std::int64_t step_n = problem.transpose_b ? 1 : problem.ldb;
  const auto* const from = static_cast<const From*>(b);
  auto* const to = static_cast<To*>(thread_scratch<Columns>(
      static_cast<std::size_t>(ld * problem.n) * sizeof(To)));
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      for (std::int64_t i = begin; i < end; ++i) {
        to[j * ld + i] = convert(from[j * step_n + i * step_k], To{});
      }
    }
  };
  const std::int64_t pieces = (problem.k * problem.n + kPiece - 1) / kPiece;
  const std::int64_t per_piece = (problem.k + pieces - 1) / pieces;
  parallel_for(pieces, threads, [&](std::int64_t begin, std::int64_t end) {
    copy(std::min(begin * per_piece, problem.k),
         std::min(end * per_piece, problem.k));
  });
  return {to, ld};
}

}  // namespace

PackedColumns pack_columns(const GemmProblem& problem, const void* b,
                           bool widen, int threads) {
  if (problem.b_dtype == DType::kFloat16) {
    return pack<float, Half>(problem, b, threads);  // all loops widen it
  }
  const bool is_float = problem.b_dtype == DType::kFloat32;
  if (!is_float && widen) {
    return pack<float, std::uint16_t>(problem, b, threads);
  }
  if (!problem.transpose_b) {
    return {b, problem.ldb};
  }
  return is_float ? pack<float, float>(problem, b, threads)
                  : pack<std::uint16_t, std::uint16_t>(problem, b, threads);
}

}  // namespace tunedops::cpu
