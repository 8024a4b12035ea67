// aten's products with an output type of the caller's choice, computed by the
// chosen plan where there is one. A type that torch refuses makes no sound
// product, so torch says so itself.

#include "ops/routed_dtype_gemm.h"

#ifdef TUNEDOPS_USE_CUDA

#include "ops/originals.h"
#include "ops/sum_product.h"
#include "ops/tuned_or.h"

namespace tunedops {
namespace {

Product dtype_product(int dims, const at::Tensor& mat1, const at::Tensor& mat2,
                      at::ScalarType out_dtype) {
  return with_dtype({.mat1 = mat1, .mat2 = mat2, .dims = dims}, out_dtype);
}

Product dtype_sum_product(int dims, const at::Tensor& self,
                          const at::Tensor& mat1, const at::Tensor& mat2,
                          at::ScalarType out_dtype, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return with_dtype(sum_product(dims, self, mat1, mat2, beta, alpha),
                    out_dtype);
}

}  // namespace

at::Tensor routed_mm_dtype(const at::Tensor& self, const at::Tensor& mat2,
                           at::ScalarType out_dtype) {
  return tuned_or(dtype_product(2, self, mat2, out_dtype), no_check,
                  [&] { return originals::mm(self, mat2, out_dtype); });
}

at::Tensor& routed_mm_dtype_out(const at::Tensor& self, const at::Tensor& mat2,
                                at::ScalarType out_dtype, at::Tensor& out) {
  return tuned_out_or(into(dtype_product(2, self, mat2, out_dtype), out), out,
                      no_check, [&]() -> at::Tensor& {
                        return originals::mm_outf(self, mat2, out_dtype, out);
                      });
}

at::Tensor routed_bmm_dtype(const at::Tensor& self, const at::Tensor& mat2,
                            at::ScalarType out_dtype) {
  return tuned_or(dtype_product(3, self, mat2, out_dtype), no_check,
                  [&] { return originals::bmm(self, mat2, out_dtype); });
}

at::Tensor& routed_bmm_dtype_out(const at::Tensor& self, const at::Tensor& mat2,
                                 at::ScalarType out_dtype, at::Tensor& out) {
  return tuned_out_or(into(dtype_product(3, self, mat2, out_dtype), out), out,
                      no_check, [&]() -> at::Tensor& {
                        return originals::bmm_outf(self, mat2, out_dtype, out);
                      });
}

at::Tensor routed_addmm_dtype(const at::Tensor& self, const at::Tensor& mat1,
                              const at::Tensor& mat2, at::ScalarType out_dtype,
                              const at::Scalar& beta, const at::Scalar& alpha) {
  return tuned_or(
      dtype_sum_product(2, self, mat1, mat2, out_dtype, beta, alpha), no_check,
      [&] {
        return originals::addmm(self, mat1, mat2, out_dtype, beta, alpha);
      });
}

at::Tensor& routed_addmm_dtype_out(const at::Tensor& self,
                                   const at::Tensor& mat1,
                                   const at::Tensor& mat2,
                                   at::ScalarType out_dtype,
                                   const at::Scalar& beta,
                                   const at::Scalar& alpha, at::Tensor& out) {
  return tuned_out_or(
      into(dtype_sum_product(2, self, mat1, mat2, out_dtype, beta, alpha), out),
      out, no_check, [&]() -> at::Tensor& {
        return originals::addmm_outf(self, mat1, mat2, out_dtype, beta, alpha,
                                     out);
      });
}

at::Tensor
routed_baddbmm_dtype(const at::Tensor& self, const at::Tensor& batch1,
                     const at::Tensor& batch2, at::ScalarType out_dtype,
                     const at::Scalar& beta, const at::Scalar& alpha) {
  return tuned_or(
      dtype_sum_product(3, self, batch1, batch2, out_dtype, beta, alpha),
      no_check, [&] {
        return originals::baddbmm(self, batch1, batch2, out_dtype, beta, alpha);
      });
}

at::Tensor& routed_baddbmm_dtype_out(const at::Tensor& self,
                                     const at::Tensor& batch1,
                                     const at::Tensor& batch2,
                                     at::ScalarType out_dtype,
                                     const at::Scalar& beta,
                                     const at::Scalar& alpha, at::Tensor& out) {
  return tuned_out_or(
      into(dtype_sum_product(3, self, batch1, batch2, out_dtype, beta, alpha),
           out),
      out, no_check, [&]() -> at::Tensor& {
        return originals::baddbmm_outf(self, batch1, batch2, out_dtype, beta,
                                       alpha, out);
      });
}

}  // namespace tunedops

#endif
