#pragma once

// Which products our tensor core kernels for bf16 and fp16 can compute at all,
// however their operands lie.

#include <cstdint>

#include "kernels/gemm/gemm_problem.h"
#include "tuning/status.h"

namespace tunedops::cuda {

/// Every side is shorter, so that numbers of rows and of ks are ints, also a
/// tile beyond the end. Gemm_Sm90 has one beyond all others for what is
/// nowhere.
inline constexpr std::int64_t kMostHalfLength = std::int64_t{1} << 30;

Status supports_half_product(const GemmProblem& problem);

}  // namespace tunedops::cuda
