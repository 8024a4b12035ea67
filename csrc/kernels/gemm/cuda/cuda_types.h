#pragma once

// Element and compute types in the terms of cuBLAS and cuBLASLt.

#include <cublas_v2.h>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

/// Of a real type.
cudaDataType_t data_type(DType dtype);

/// What products are formed and summed in, as the precision flags allow.
cublasComputeType_t compute_type(const GemmProblem& problem);

}  // namespace tunedops::cuda
