#pragma once

// aten's products with the arguments of our schemas. They go through the
// dispatcher: for products that somebody differentiates, vectorizes or casts,
// and on devices that we have no kernels for.

#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include "ops/gemm.h"

namespace tunedops::aten_forms {

inline at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  return at::mm(self, mat2);
}

inline at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2,
                          at::Tensor& out) {
  return at::mm_out(out, self, mat2);
}

inline at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1,
                        const at::Tensor& mat2, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  return at::addmm(self, mat1, mat2, beta, alpha);
}

inline at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out) {
  return at::addmm_out(out, self, mat1, mat2, beta, alpha);
}

inline at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2) {
  return at::bmm(self, mat2);
}

inline at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                           at::Tensor& out) {
  return at::bmm_out(out, self, mat2);
}

inline at::Tensor baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                          const at::Tensor& batch2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return at::baddbmm(self, batch1, batch2, beta, alpha);
}

inline at::Tensor& baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                               const at::Tensor& batch2, const at::Scalar& beta,
                               const at::Scalar& alpha, at::Tensor& out) {
  return at::baddbmm_out(out, self, batch1, batch2, beta, alpha);
}

inline at::Tensor linear(const at::Tensor& input, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias,
                         std::string_view activation) {
  return original_linear(input, weight, bias, parse_activation(activation));
}

}  // namespace tunedops::aten_forms
