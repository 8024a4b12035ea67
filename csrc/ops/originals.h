#pragma once

// Torch's own kernels, reached without the dispatcher: this is what `Default`
// means. Calling at::mm here instead would come back to us through routing.

#include <ATen/core/Tensor.h>
#include <ATen/ops/_addmm_activation_cpu_dispatch.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/addmv_cpu_dispatch.h>
#include <ATen/ops/baddbmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#ifdef TUNEDOPS_USE_CUDA
#include <ATen/ops/_addmm_activation_cuda_dispatch.h>
#include <ATen/ops/addmm_cuda_dispatch.h>
#include <ATen/ops/addmv_cuda_dispatch.h>
#include <ATen/ops/baddbmm_cuda_dispatch.h>
#include <ATen/ops/bmm_cuda_dispatch.h>
#include <ATen/ops/mm_cuda_dispatch.h>
#endif

#include "tuning/thread_state.h"

// Calls a function of the namespace of the tensor's device; a build without
// CUDA has only one to choose from.
#ifdef TUNEDOPS_USE_CUDA
#define TUNEDOPS_ORIGINAL(tensor, function, ...)                               \
  ((tensor).is_cuda() ? at::cuda::function(__VA_ARGS__)                        \
                      : at::cpu::function(__VA_ARGS__))
#else
#define TUNEDOPS_ORIGINAL(tensor, function, ...) at::cpu::function(__VA_ARGS__)
#endif

namespace tunedops::originals {

// Of batches torch multiplies small matrices one by one, through its
// dispatcher: those are no products of the program's, hence the marks.

using at::Scalar;
using at::Tensor;

inline Tensor mm(const Tensor& a, const Tensor& b) {
  return TUNEDOPS_ORIGINAL(a, mm, a, b);
}
inline Tensor& mm_outf(const Tensor& a, const Tensor& b, Tensor& out) {
  return TUNEDOPS_ORIGINAL(a, mm_outf, a, b, out);
}
inline Tensor bmm(const Tensor& a, const Tensor& b) {
  const OriginalsOnly mark;
  return TUNEDOPS_ORIGINAL(a, bmm, a, b);
}
inline Tensor& bmm_outf(const Tensor& a, const Tensor& b, Tensor& out) {
  const OriginalsOnly mark;
  return TUNEDOPS_ORIGINAL(a, bmm_outf, a, b, out);
}

inline Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b,
                    const Scalar& beta, const Scalar& alpha) {
  return TUNEDOPS_ORIGINAL(a, addmm, self, a, b, beta, alpha);
}
inline Tensor& addmm_(Tensor& self, const Tensor& a, const Tensor& b,
                      const Scalar& beta, const Scalar& alpha) {
  return TUNEDOPS_ORIGINAL(a, addmm_, self, a, b, beta, alpha);
}
inline Tensor& addmm_outf(const Tensor& self, const Tensor& a, const Tensor& b,
                          const Scalar& beta, const Scalar& alpha,
                          Tensor& out) {
  return TUNEDOPS_ORIGINAL(a, addmm_outf, self, a, b, beta, alpha, out);
}

inline Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b,
                      const Scalar& beta, const Scalar& alpha) {
  const OriginalsOnly mark;
  return TUNEDOPS_ORIGINAL(a, baddbmm, self, a, b, beta, alpha);
}
inline Tensor& baddbmm_(Tensor& self, const Tensor& a, const Tensor& b,
                        const Scalar& beta, const Scalar& alpha) {
  const OriginalsOnly mark;
  return TUNEDOPS_ORIGINAL(a, baddbmm_, self, a, b, beta, alpha);
}
inline Tensor& baddbmm_outf(const Tensor& self, const Tensor& a,
                            const Tensor& b, const Scalar& beta,
                            const Scalar& alpha, Tensor& out) {
  const OriginalsOnly mark;
  return TUNEDOPS_ORIGINAL(a, baddbmm_outf, self, a, b, beta, alpha, out);
}

inline Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec,
                    const Scalar& beta, const Scalar& alpha) {
  return TUNEDOPS_ORIGINAL(mat, addmv, self, mat, vec, beta, alpha);
}
inline Tensor& addmv_(Tensor& self, const Tensor& mat, const Tensor& vec,
                      const Scalar& beta, const Scalar& alpha) {
  return TUNEDOPS_ORIGINAL(mat, addmv_, self, mat, vec, beta, alpha);
}
inline Tensor& addmv_outf(const Tensor& self, const Tensor& mat,
                          const Tensor& vec, const Scalar& beta,
                          const Scalar& alpha, Tensor& out) {
  return TUNEDOPS_ORIGINAL(mat, addmv_outf, self, mat, vec, beta, alpha, out);
}

inline Tensor _addmm_activation(const Tensor& self, const Tensor& a,
                                const Tensor& b, const Scalar& beta,
                                const Scalar& alpha, bool use_gelu) {
  return TUNEDOPS_ORIGINAL(a, _addmm_activation, self, a, b, beta, alpha,
                           use_gelu);
}
inline Tensor& _addmm_activation_outf(const Tensor& self, const Tensor& a,
                                      const Tensor& b, const Scalar& beta,
                                      const Scalar& alpha, bool use_gelu,
                                      Tensor& out) {
  return TUNEDOPS_ORIGINAL(a, _addmm_activation_outf, self, a, b, beta, alpha,
                           use_gelu, out);
}

#ifdef TUNEDOPS_USE_CUDA
// The forms that are told the output's type, which no other device has.

using at::ScalarType;

inline Tensor mm(const Tensor& a, const Tensor& b, ScalarType out_dtype) {
  return at::cuda::mm(a, b, out_dtype);
}
inline Tensor& mm_outf(const Tensor& a, const Tensor& b, ScalarType out_dtype,
                       Tensor& out) {
  return at::cuda::mm_outf(a, b, out_dtype, out);
}
inline Tensor bmm(const Tensor& a, const Tensor& b, ScalarType out_dtype) {
  return at::cuda::bmm(a, b, out_dtype);
}
inline Tensor& bmm_outf(const Tensor& a, const Tensor& b, ScalarType out_dtype,
                        Tensor& out) {
  return at::cuda::bmm_outf(a, b, out_dtype, out);
}
inline Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b,
                    ScalarType out_dtype, const Scalar& beta,
                    const Scalar& alpha) {
  return at::cuda::addmm(self, a, b, out_dtype, beta, alpha);
}
inline Tensor& addmm_outf(const Tensor& self, const Tensor& a, const Tensor& b,
                          ScalarType out_dtype, const Scalar& beta,
                          const Scalar& alpha, Tensor& out) {
  return at::cuda::addmm_outf(self, a, b, out_dtype, beta, alpha, out);
}
inline Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b,
                      ScalarType out_dtype, const Scalar& beta,
                      const Scalar& alpha) {
  return at::cuda::baddbmm(self, a, b, out_dtype, beta, alpha);
}
inline Tensor& baddbmm_outf(const Tensor& self, const Tensor& a,
                            const Tensor& b, ScalarType out_dtype,
                            const Scalar& beta, const Scalar& alpha,
                            Tensor& out) {
  return at::cuda::baddbmm_outf(self, a, b, out_dtype, beta, alpha, out);
}
#endif

}  // namespace tunedops::originals

#undef TUNEDOPS_ORIGINAL
