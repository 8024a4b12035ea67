#pragma once

// Return codes of CUDA's libraries as Status, and as exceptions where a failure
// is a bug. Each names the call, so that an error says what was tried.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "tuning/status.h"

namespace tunedops::cuda {

/// Ok, a failure that later calls survive, or a sticky one: the context is
/// lost, and every later call of the process fails too. Clears the error.
Status to_status(cudaError_t code, const char* call);
Status to_status(cublasStatus_t code, const char* call);

/// Of a library's product, which may be several launches: a refusal is
/// returned; a failure after which a part of the output may be written is
/// thrown.
Status to_status_of_product(cublasStatus_t code, const char* call);

/// For destructors, which must not throw and cannot report.
inline void ignore(cudaError_t) noexcept {}
inline void ignore(cublasStatus_t) noexcept {}

[[noreturn]] void throw_failure(const Status& status);

}  // namespace tunedops::cuda

/// Returns the failure from a function that returns Status.
#define TUNEDOPS_CUDA_RETURN(call)                                             \
  do {                                                                         \
    if (::tunedops::Status status_ =                                           \
            ::tunedops::cuda::to_status((call), #call);                        \
        !status_.is_ok()) {                                                    \
      return status_;                                                          \
    }                                                                          \
  } while (false)

/// Throws where failing means that the program is wrong.
#define TUNEDOPS_CUDA_CHECK(call)                                              \
  do {                                                                         \
    if (::tunedops::Status status_ =                                           \
            ::tunedops::cuda::to_status((call), #call);                        \
        !status_.is_ok()) {                                                    \
      ::tunedops::cuda::throw_failure(status_);                                \
    }                                                                          \
  } while (false)
