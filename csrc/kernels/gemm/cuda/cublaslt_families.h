#pragma once

// The families of algorithms that cuBLASLt says it has for a product.

#include <vector>

#include "kernels/gemm/cuda/cublaslt_family_config.h"
#include "kernels/gemm/cuda/cublaslt_product.h"

namespace tunedops::cuda {

std::vector<CublasltFamily> cublaslt_families(const LtProduct& product);

}  // namespace tunedops::cuda
