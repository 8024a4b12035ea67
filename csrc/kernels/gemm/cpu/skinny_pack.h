#pragma once

// Puts b, the small operand of a skinny product, into the form that the inner
// loops read: columns of k consecutive elements, widened to float if they want
// that. Mostly the caller's b is in that form already and nothing is copied.

#include "kernels/gemm/gemm_problem.h"

#include <cstdint>

namespace tunedops::cpu {

struct PackedColumns {
  const void* data = nullptr;
  std::int64_t ld = 0;
};

/// The columns of op(b), which are valid until the calling thread calls this
/// again. Other threads may read them.
PackedColumns pack_columns(const GemmProblem& problem, const void* b,
                           bool widen, int threads);

}  // namespace tunedops::cpu
