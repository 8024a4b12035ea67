#include "kernels/gemm/cuda/half_layout.h"

namespace tunedops::cuda {
namespace {

// The longest copies that can be made of every line.
int unit_of(const GemmProblem& p, const HalfLines& x, std::uint8_t align) {
  for (const int unit : {16, 8, 4}) {
    if (align >= unit && is_multiple_of(unit, x.line_stride, p.a_dtype) &&
        is_multiple_of(unit, x.matrix_stride, p.a_dtype)) {
      return unit;
    }
  }
  return 2;
}

// One line is apart from nothing, and so is one matrix. Where the next would be
// matters all the same: copies of nothing have to be aligned too.
HalfLines lines_of(const GemmProblem& p, bool k_is_contiguous,
                   std::int64_t side, std::int64_t ld, std::int64_t stride,
                   std::uint8_t align) {
  HalfLines x;
  x.k_is_contiguous = k_is_contiguous;
  x.length = k_is_contiguous ? p.k : side;
  x.lines = k_is_contiguous ? side : p.k;
  x.line_stride = x.lines > 1 ? ld : 0;
  x.matrix_stride = p.batch > 1 ? stride : 0;
  x.unit = unit_of(p, x, align);
  return x;
}

}  // namespace

HalfLayout half_layout(const GemmProblem& p) {
  return {lines_of(p, p.transpose_a, p.m, p.lda, p.stride_a, p.align_a),
          lines_of(p, !p.transpose_b, p.n, p.ldb, p.stride_b, p.align_b)};
}

}  // namespace tunedops::cuda
