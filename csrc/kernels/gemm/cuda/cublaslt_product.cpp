#include "kernels/gemm/cuda/cublaslt_product.h"

#include <map>
#include <mutex>

#include "backends/cuda/device_guard.h"

namespace tunedops::cuda {
namespace {

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
    const DeviceGuard guard(device);
    cublasLtHandle_t created = nullptr;
    TUNEDOPS_CUDA_CHECK(cublasLtCreate(&created));
    handle = LtHandle(created);
  }
  return handle.get();
}

Status lt_supports(const GemmProblem& p) {
  if (p.a_dtype != DType::kFloat32 && p.a_dtype != DType::kFloat64 &&
      p.a_dtype != DType::kBFloat16 && p.a_dtype != DType::kFloat16) {
    return Status::unsupported("real types only");
  }
  if (p.b_dtype != p.a_dtype || p.out_dtype != p.a_dtype ||
      (p.has_bias() && p.bias_dtype != p.a_dtype)) {
    return Status::unsupported("one type for all operands only");
  }
  if (p.activation == Activation::kGelu) {
    return Status::unsupported("its gelu is the one with tanh");
  }
  if (p.has_bias() && p.batched) {
    return Status::unsupported("no bias for batches");
  }
  if (p.batch > std::int64_t{1} << 30) {
    return Status::unsupported("too large a batch");
  }
  return Status::ok();
}

LtProduct::LtProduct(const GemmProblem& p)
    : handle_(lt_handle(p.header.device_index)),
      compute_(tunedops::cuda::compute_type(p)),
      scale_(p.a_dtype == DType::kFloat64 ? CUDA_R_64F : CUDA_R_32F),
      type_(data_type(p.a_dtype)) {
  cublasLtMatmulDesc_t operation = nullptr;
  TUNEDOPS_CUDA_CHECK(cublasLtMatmulDescCreate(&operation, compute_, scale_));
  operation_ = LtOperation(operation);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA,
      p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB,
      p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue(p));
  if (p.has_bias()) {
    set(operation_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_);
  }
  a_ = make_layout(type_, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k,
                   p.lda, p, p.stride_a);
  b_ = make_layout(type_, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n,
                   p.ldb, p, p.stride_b);
  c_ = make_layout(type_, p.m, p.n, p.ldc, p, p.stride_c);
}

}  // namespace tunedops::cuda
