#pragma once

// What NVIDIA's libraries can compute, as far as it can be said without asking
// them (and so without a GPU).

#include "kernels/gemm/gemm_problem.h"
#include "tuning/status.h"

namespace tunedops::cuda {

/// Whether cuBLAS and cuBLASLt have such types and sizes, or why not.
Status library_supports(const GemmProblem& problem);

/// The same for cuBLASLt with the problem's bias and activation.
Status cublaslt_supports(const GemmProblem& problem);

}  // namespace tunedops::cuda
