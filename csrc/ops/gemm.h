#pragma once

// The ops as C++ functions on dense tensors of a device that we have kernels
// for, below autograd: what the dispatcher calls, and what the fast entry in
// csrc/python calls without it. The `routed_` ones take the place of aten's.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops {

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2);
at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2,
                   at::Tensor& out);
at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2, const at::Scalar& beta,
                 const at::Scalar& alpha);
at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                      const at::Tensor& mat2, const at::Scalar& beta,
                      const at::Scalar& alpha, at::Tensor& out);
at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2);
at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                    at::Tensor& out);
at::Tensor baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                   const at::Tensor& batch2, const at::Scalar& beta,
                   const at::Scalar& alpha);
at::Tensor& baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                        const at::Tensor& batch2, const at::Scalar& beta,
                        const at::Scalar& alpha, at::Tensor& out);
at::Tensor linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias,
                  std::string_view activation);

at::Tensor routed_mm(const at::Tensor& self, const at::Tensor& mat2);
at::Tensor& routed_mm_out(const at::Tensor& self, const at::Tensor& mat2,
                          at::Tensor& out);
at::Tensor routed_addmm(const at::Tensor& self, const at::Tensor& mat1,
                        const at::Tensor& mat2, const at::Scalar& beta,
                        const at::Scalar& alpha);
at::Tensor& routed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out);
at::Tensor& routed_addmm_(at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha);
at::Tensor routed_bmm(const at::Tensor& self, const at::Tensor& mat2);
at::Tensor& routed_bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                           at::Tensor& out);
at::Tensor routed_baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                          const at::Tensor& batch2, const at::Scalar& beta,
                          const at::Scalar& alpha);
at::Tensor& routed_baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                               const at::Tensor& batch2, const at::Scalar& beta,
                               const at::Scalar& alpha, at::Tensor& out);
at::Tensor& routed_baddbmm_(at::Tensor& self, const at::Tensor& batch1,
                            const at::Tensor& batch2, const at::Scalar& beta,
                            const at::Scalar& alpha);

at::Tensor routed_addmm_activation(const at::Tensor& self,
                                   const at::Tensor& mat1,
                                   const at::Tensor& mat2,
                                   const at::Scalar& beta,
                                   const at::Scalar& alpha, bool use_gelu);
at::Tensor& routed_addmm_activation_out(const at::Tensor& self,
                                        const at::Tensor& mat1,
                                        const at::Tensor& mat2,
                                        const at::Scalar& beta,
                                        const at::Scalar& alpha, bool use_gelu,
                                        at::Tensor& out);
at::Tensor routed_addmv(const at::Tensor& self, const at::Tensor& mat,
                        const at::Tensor& vec, const at::Scalar& beta,
                        const at::Scalar& alpha);
at::Tensor& routed_addmv_out(const at::Tensor& self, const at::Tensor& mat,
                             const at::Tensor& vec, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out);
at::Tensor& routed_addmv_(at::Tensor& self, const at::Tensor& mat,
                          const at::Tensor& vec, const at::Scalar& beta,
                          const at::Scalar& alpha);

/// torch's linear and activation, as a program would write them.
at::Tensor original_linear(const at::Tensor& input, const at::Tensor& weight,
                           const std::optional<at::Tensor>& bias,
                           Activation activation);
/// Throws, listing what is allowed, for an unknown name.
Activation parse_activation(std::string_view name);

}  // namespace tunedops
