#include "kernels/gemm/cuda/half_layout.h"

namespace tunedops::cuda {
namespace {

bool is_aligned(const GemmProblem& p, const HalfLines& x, std::uint8_t align) {
  constexpr int kBytes = 16;
  return align >= kBytes && is_multiple_of(kBytes, x.line_stride, p.a_dtype) &&
         is_multiple_of(kBytes, x.matrix_stride, p.a_dtype);
}

// One line is apart from nothing, and so is one matrix: where the next would be
// does not matter.
HalfLines lines_of(const GemmProblem& p, bool k_is_contiguous,
                   std::int64_t side, std::int64_t ld, std::int64_t stride,
                   std::uint8_t align) {
  HalfLines x;
  x.k_is_contiguous = k_is_contiguous;
  x.length = k_is_contiguous ? p.k : side;
  x.lines = k_is_contiguous ? side : p.k;
  x.line_stride = x.lines > 1 ? ld : 0;
  x.matrix_stride = p.batch > 1 ? stride : 0;
  x.is_aligned = is_aligned(p, x, align);
  return x;
}

}  // namespace

HalfLayout half_layout(const GemmProblem& p) {
  return {lines_of(p, p.transpose_a, p.m, p.lda, p.stride_a, p.align_a),
          lines_of(p, !p.transpose_b, p.n, p.ldb, p.stride_b, p.align_b)};
}

}  // namespace tunedops::cuda
