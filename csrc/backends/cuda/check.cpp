#include "backends/cuda/check.h"

namespace tunedops::cuda {
namespace {

// Errors after which the context still works. Whatever is not known to be
// harmless is taken as sticky: stopping to tune costs little, going on in a
// lost context costs the user's program.
bool is_recoverable(cudaError_t code) {
  switch (code) {
  case cudaErrorInvalidValue:
  case cudaErrorMemoryAllocation:
  case cudaErrorInvalidConfiguration:
  case cudaErrorLaunchOutOfResources:
  case cudaErrorInvalidResourceHandle:
  case cudaErrorInvalidDeviceFunction:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorNotSupported:
  case cudaErrorNotReady:
  case cudaErrorStreamCaptureUnsupported:
  case cudaErrorStreamCaptureInvalidated:
  case cudaErrorStreamCaptureUnjoined:
  case cudaErrorStreamCaptureImplicit:
  case cudaErrorStreamCaptureMerge:
  case cudaErrorStreamCaptureUnmatched:
  case cudaErrorStreamCaptureIsolation:
  case cudaErrorStreamCaptureWrongThread:
  case cudaErrorInvalidClusterSize:
  case cudaErrorInvalidKernelImage:
  case cudaErrorUnsupportedPtxVersion:
  case cudaErrorJitCompilerNotFound:
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
    return true;
  default:
    return false;
  }
}

// Failures that are no refusals of what was asked.
bool may_have_launched(cublasStatus_t code) {
  return code == CUBLAS_STATUS_EXECUTION_FAILED ||
         code == CUBLAS_STATUS_MAPPING_ERROR ||
         code == CUBLAS_STATUS_INTERNAL_ERROR;
}

}  // namespace

Status to_status(cudaError_t code, const char* call) {
  if (code == cudaSuccess) {
    return Status::ok();
  }
  ignore(cudaGetLastError());  // else the next caller would find ours
  std::string reason = std::string(call) + ": " + cudaGetErrorString(code);
  return is_recoverable(code) ? Status::failed(std::move(reason))
                              : Status::sticky(std::move(reason));
}

Status to_status(cublasStatus_t code, const char* call) {
  if (code == CUBLAS_STATUS_SUCCESS) {
    return Status::ok();
  }
  std::string reason = std::string(call) + ": " + cublasGetStatusString(code);
  if (code == CUBLAS_STATUS_NOT_SUPPORTED ||
      code == CUBLAS_STATUS_ARCH_MISMATCH) {
    return Status::unsupported(std::move(reason));
  }
  // A library that could not launch may have met an error of the context.
  if (may_have_launched(code)) {
    const Status context = to_status(cudaGetLastError(), call);
    if (context.is_sticky()) {
      return context;
    }
  }
  return Status::failed(std::move(reason));
}

Status to_status_of_product(cublasStatus_t code, const char* call) {
  Status status = to_status(code, call);
  if (may_have_launched(code)) {
    throw StatusError(status);
  }
  return status;
}

void throw_failure(const Status& status) { throw StatusError(status); }

}  // namespace tunedops::cuda
