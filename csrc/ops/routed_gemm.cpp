// aten's products, computed by the chosen plan where there is one.

#include "ops/gemm.h"
#include "ops/products.h"

namespace tunedops {
at::Tensor routed_mm(const at::Tensor& self, const at::Tensor& mat2) {
  return products::mm(self, mat2, no_check);
}

at::Tensor& routed_mm_out(const at::Tensor& self, const at::Tensor& mat2,
                          at::Tensor& out) {
  return products::mm_out(self, mat2, out, no_check);
}

at::Tensor routed_bmm(const at::Tensor& self, const at::Tensor& mat2) {
  return products::bmm(self, mat2, no_check);
}

at::Tensor& routed_bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                           at::Tensor& out) {
  return products::bmm_out(self, mat2, out, no_check);
}

at::Tensor routed_addmm(const at::Tensor& self, const at::Tensor& mat1,
                        const at::Tensor& mat2, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  return products::addmm(self, mat1, mat2, beta, alpha, no_check);
}

at::Tensor& routed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out) {
  return products::addmm_out(self, mat1, mat2, beta, alpha, out, no_check);
}

at::Tensor& routed_addmm_(at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return tuned_out_or(into(sum_product(2, self, mat1, mat2, beta, alpha), self),
                      self, no_check, [&]() -> at::Tensor& {
                        return originals::addmm_(self, mat1, mat2, beta, alpha);
                      });
}

at::Tensor routed_baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                          const at::Tensor& batch2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return products::baddbmm(self, batch1, batch2, beta, alpha, no_check);
}

at::Tensor& routed_baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                               const at::Tensor& batch2, const at::Scalar& beta,
                               const at::Scalar& alpha, at::Tensor& out) {
  return products::baddbmm_out(self, batch1, batch2, beta, alpha, out,
                               no_check);
}

at::Tensor& routed_baddbmm_(at::Tensor& self, const at::Tensor& batch1,
                            const at::Tensor& batch2, const at::Scalar& beta,
                            const at::Scalar& alpha) {
  return tuned_out_or(
      into(sum_product(3, self, batch1, batch2, beta, alpha), self), self,
      no_check, [&]() -> at::Tensor& {
        return originals::baddbmm_(self, batch1, batch2, beta, alpha);
      });
}

at::Tensor routed_addmm_activation(const at::Tensor& self,
                                   const at::Tensor& mat1,
                                   const at::Tensor& mat2,
                                   const at::Scalar& beta,
                                   const at::Scalar& alpha, bool use_gelu) {
  const Product product =
      activated(sum_product(2, self, mat1, mat2, beta, alpha), use_gelu);
  return tuned_or(product, no_check, [&] {
    return originals::_addmm_activation(self, mat1, mat2, beta, alpha,
                                        use_gelu);
  });
}

at::Tensor& routed_addmm_activation_out(const at::Tensor& self,
                                        const at::Tensor& mat1,
                                        const at::Tensor& mat2,
                                        const at::Scalar& beta,
                                        const at::Scalar& alpha, bool use_gelu,
                                        at::Tensor& out) {
  const Product product = into(
      activated(sum_product(2, self, mat1, mat2, beta, alpha), use_gelu), out);
  return tuned_out_or(product, out, no_check, [&]() -> at::Tensor& {
    return originals::_addmm_activation_outf(self, mat1, mat2, beta, alpha,
                                             use_gelu, out);
  });
}

}  // namespace tunedops
