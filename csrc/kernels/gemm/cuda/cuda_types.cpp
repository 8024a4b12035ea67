#include "kernels/gemm/cuda/cuda_types.h"

namespace tunedops::cuda {

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
  case DType::kFloat64:
    return CUDA_R_64F;
  case DType::kBFloat16:
    return CUDA_R_16BF;
  case DType::kFloat16:
    return CUDA_R_16F;
  default:
    return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(const GemmProblem& p) {
  if (p.a_dtype == DType::kFloat64) {
    return CUBLAS_COMPUTE_64F;
  }
  if (p.a_dtype == DType::kFloat32 && (p.header.precision & kAllowTf32) != 0) {
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  return CUBLAS_COMPUTE_32F;
}

}  // namespace tunedops::cuda
