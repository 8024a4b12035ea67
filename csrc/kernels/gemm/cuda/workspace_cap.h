#pragma once

// How much workspace a product on a GPU may use; the same for all kernels.

#include <cstddef>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

/// Bytes: what NVIDIA recommends for the device, unless the problem says
/// otherwise.
std::size_t workspace_cap(const GemmProblem& problem);

}  // namespace tunedops::cuda
