#pragma once

// A matrix product in cuBLASLt's terms: the operation, four layouts and the
// process's handle. Built once per plan, so that running one only passes
// addresses.

#include <cublasLt.h>

#include "backends/cuda/handle.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

using LtHandle = Owner<cublasLtHandle_t, &cublasLtDestroy>;
using LtLayout = Owner<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using LtOperation = Owner<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using LtPreference =
    Owner<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

/// One a device, made when it is first asked for and never destroyed.
cublasLtHandle_t lt_handle(int device);

class LtProduct {
 public:
  /// `problem` is supported.
  explicit LtProduct(const GemmProblem& problem);

  cublasLtHandle_t handle() const { return handle_; }
  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  cublasLtMatrixLayout_t c() const { return c_.get(); }
  cublasComputeType_t compute_type() const { return compute_; }
  cudaDataType_t scale_type() const { return scale_; }
  cudaDataType_t type() const { return type_; }
  cudaDataType_t out_type() const { return out_type_; }

 private:
  cublasLtHandle_t handle_;
  cublasComputeType_t compute_;
  cudaDataType_t scale_;
  cudaDataType_t type_;  // of a and b
  cudaDataType_t out_type_;
  LtOperation operation_;
  LtLayout a_;
  LtLayout b_;
  LtLayout c_;  // of the output too, which is where c is read from
};

}  // namespace tunedops::cuda
