#pragma once

// What a product takes on Gemm_Sm90, by a model like that of cublaslt_cost.h:
// with what only this kernel has, operands that are shifted or packed, splits
// that meet in a cluster, and outputs whose lines begin anywhere.

#include "kernels/gemm/cuda/sm90_config.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

/// `bytes_per_us` is what the memory delivers.
double sm90_cost_us(const GemmProblem& problem,
                    const Sm90Parameters& parameters, int multiprocessors,
                    double bytes_per_us);

}  // namespace tunedops::cuda
