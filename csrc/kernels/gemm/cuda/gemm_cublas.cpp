#include "kernels/gemm/cuda/gemm_cublas.h"

#include "backends/cuda/handle.h"
#include "backends/cuda/thread_owned.h"
#include "backends/cuda/tuning_scope.h"
#include "kernels/gemm/cuda/cuda_types.h"
#include "kernels/gemm/cuda/library_support.h"
#include "kernels/gemm/cuda/workspace_cap.h"

namespace tunedops {
namespace {

using cuda::to_status;
using Handle = cuda::Owner<cublasHandle_t, &cublasDestroy>;

// A handle holds the stream and the workspace of the call, so every thread has
// its own for each device.
Status handle_of_thread(int device, cublasHandle_t& result) {
  Handle& handle = cuda::ThreadOwned<int, Handle>::of_this_thread(device);
  if (!handle) {
    // Making one allocates, which a capture elsewhere must survive.
    const cuda::RelaxedCapture relaxed;
    const cuda::DeviceGuard guard(device);
    cublasHandle_t created = nullptr;
    TUNEDOPS_CUDA_RETURN(cublasCreate(&created));
    handle = Handle(created);
  }
  result = handle.get();
  return Status::ok();
}

class CublasPlan final : public Plan {
 public:
  explicit CublasPlan(const GemmProblem& problem)
      : p_(problem), a_type_(cuda::data_type(problem.a_dtype)),
        out_type_(cuda::data_type(problem.out_dtype)),
        compute_(cuda::compute_type(problem)),
        mode_((problem.header.precision & kFullPrecisionReduction) != 0
                  ? CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
                  : CUBLAS_DEFAULT_MATH),
        workspace_bytes_(cuda::workspace_cap(problem)) {}

  Status run(const Arguments& arguments, Stream stream) const override {
    cublasHandle_t handle = nullptr;
    if (Status made = handle_of_thread(p_.header.device_index, handle);
        !made.is_ok()) {
      return made;
    }
    TUNEDOPS_CUDA_RETURN(
        cublasSetStream(handle, static_cast<cudaStream_t>(stream.handle)));
    // After the stream, with which the library's own workspace comes back.
    TUNEDOPS_CUDA_RETURN(
        cublasSetWorkspace(handle, arguments.workspace, workspace_bytes_));
    TUNEDOPS_CUDA_RETURN(
        cublasSetMathMode(handle, static_cast<cublasMath_t>(mode_)));
    const auto& data = arguments.operands;
    const float alpha = static_cast<float>(arguments.alpha);
    const float beta = static_cast<float>(arguments.beta);
    const bool is_double = p_.a_dtype == DType::kFloat64;
    return cuda::to_status_of_product(
        cublasGemmStridedBatchedEx_64(
            handle, p_.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
            p_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, p_.m, p_.n, p_.k,
            is_double ? static_cast<const void*>(&arguments.alpha) : &alpha,
            data[kGemmA], a_type_, p_.lda, p_.stride_a, data[kGemmB], a_type_,
            p_.ldb, p_.stride_b,
            is_double ? static_cast<const void*>(&arguments.beta) : &beta,
            data[kGemmOut], out_type_, p_.ldc, p_.stride_c, p_.batch, compute_,
            CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx_64");
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

 private:
  GemmProblem p_;
  cudaDataType_t a_type_;
  cudaDataType_t out_type_;
  cublasComputeType_t compute_;
  unsigned mode_;
  std::size_t workspace_bytes_;
};

}  // namespace

Status GemmCublas::do_supports(const GemmProblem& p) const {
  if (p.has_bias() || p.activation != Activation::kNone) {
    return Status::unsupported("neither bias nor activation");
  }
  if ((p.header.precision & kNoSplitK) != 0) {
    return Status::unsupported("it may split k, which is not allowed");
  }
  return cuda::library_supports(p);
}

std::unique_ptr<Plan> GemmCublas::do_prepare(const GemmProblem& problem,
                                             const Config&) const {
  return std::make_unique<CublasPlan>(problem);
}

}  // namespace tunedops
