#include "kernels/gemm/cuda/cublaslt_product.h"

#include <map>
#include <mutex>

#include "backends/cuda/device_guard.h"
#include "backends/cuda/tuning_scope.h"
#include "kernels/gemm/cuda/cuda_types.h"

namespace tunedops::cuda {
namespace {

cublasLtEpilogue_t epilogue(const GemmProblem& p) {
  switch (p.activation) {
  case Activation::kRelu:
    return p.has_bias() ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case Activation::kGeluTanh:
    return p.has_bias() ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  default:
    return p.has_bias() ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

LtLayout make_layout(cudaDataType_t type, std::int64_t rows,
                     std::int64_t columns, std::int64_t ld,
                     const GemmProblem& p, std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  TUNEDOPS_CUDA_CHECK(cublasLtMatrixLayoutCreate(
      &layout, type, static_cast<std::uint64_t>(rows),
      static_cast<std::uint64_t>(columns), ld));
  LtLayout owned(layout);
  if (p.batch > 1) {
    const auto count = static_cast<std::int32_t>(p.batch);
    TUNEDOPS_CUDA_CHECK(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
    TUNEDOPS_CUDA_CHECK(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
        sizeof(stride)));
  }
  return owned;
}

template <class Value>
void set(const LtOperation& operation, cublasLtMatmulDescAttributes_t attribute,
         Value value) {
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulDescSetAttribute(operation.get(), attribute,
                                                     &value, sizeof(value)));
}

}  // namespace

cublasLtHandle_t lt_handle(int device) {
  static auto& mutex = *new std::mutex;
  static auto& handles = *new std::map<int, LtHandle>;
  const std::lock_guard lock(mutex);
  LtHandle& handle = handles[device];
  if (!handle) {
    // Making one allocates, which a capture elsewhere must survive.
    const RelaxedCapture relaxed;
    const DeviceGuard guard(device);
    cublasLtHandle_t created = nullptr;
    TUNEDOPS_CUDA_CHECK(cublasLtCreate(&created));
    handle = LtHandle(created);
  }
  return handle.get();
}

LtProduct::LtProduct(const GemmProblem& p)
    : handle_(lt_handle(p.header.device_index)),
      compute_(tunedops::cuda::compute_type(p)),
      scale_(p.a_dtype == DType::kFloat64 ? CUDA_R_64F : CUDA_R_32F),
      type_(data_type(p.a_dtype)), out_type_(data_type(p.out_dtype)) {
  cublasLtMatmulDesc_t operation = nullptr;
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulDescCreate(&operation, compute_, scale_));
  operation_ = LtOperation(operation);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA,
      p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB,
      p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue(p));
  if (p.has_bias()) {
    set(operation_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
        data_type(p.bias_dtype));
  }
  a_ = make_layout(type_, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k,
                   p.lda, p, p.stride_a);
  b_ = make_layout(type_, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n,
                   p.ldb, p, p.stride_b);
  c_ = make_layout(out_type_, p.m, p.n, p.ldc, p, p.stride_c);
}

}  // namespace tunedops::cuda
