#pragma once

// The forms of aten's products that are told the output's type. They take the
// place of aten's on CUDA, the only device where aten has them.

#include <ATen/core/Tensor.h>

namespace tunedops {

at::Tensor routed_mm_dtype(const at::Tensor& self, const at::Tensor& mat2,
                           at::ScalarType out_dtype);
at::Tensor& routed_mm_dtype_out(const at::Tensor& self, const at::Tensor& mat2,
                                at::ScalarType out_dtype, at::Tensor& out);
at::Tensor routed_addmm_dtype(const at::Tensor& self, const at::Tensor& mat1,
                              const at::Tensor& mat2, at::ScalarType out_dtype,
                              const at::Scalar& beta, const at::Scalar& alpha);
at::Tensor& routed_addmm_dtype_out(const at::Tensor& self,
                                   const at::Tensor& mat1,
                                   const at::Tensor& mat2,
                                   at::ScalarType out_dtype,
                                   const at::Scalar& beta,
                                   const at::Scalar& alpha, at::Tensor& out);
at::Tensor routed_bmm_dtype(const at::Tensor& self, const at::Tensor& mat2,
                            at::ScalarType out_dtype);
at::Tensor& routed_bmm_dtype_out(const at::Tensor& self, const at::Tensor& mat2,
                                 at::ScalarType out_dtype, at::Tensor& out);
at::Tensor
routed_baddbmm_dtype(const at::Tensor& self, const at::Tensor& batch1,
                     const at::Tensor& batch2, at::ScalarType out_dtype,
                     const at::Scalar& beta, const at::Scalar& alpha);
at::Tensor& routed_baddbmm_dtype_out(const at::Tensor& self,
                                     const at::Tensor& batch1,
                                     const at::Tensor& batch2,
                                     at::ScalarType out_dtype,
                                     const at::Scalar& beta,
                                     const at::Scalar& alpha, at::Tensor& out);

}  // namespace tunedops
