// The ops of torch.ops.tunedops: their arguments are checked before anything
// else, so that the answer is the same whatever is switched on.

#include "ops/gemm.h"

#include "ops/check_product.h"
#include "ops/products.h"

namespace tunedops {

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  return products::mm(self, mat2, [&] { check_mm("mm", self, mat2); });
}

at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2,
                   at::Tensor& out) {
  return products::mm_out(self, mat2, out, [&] { check_mm("mm", self, mat2); });
}

at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  return products::addmm(self, mat1, mat2, beta, alpha,
                         [&] { check_addmm("addmm", self, mat1, mat2); });
}

at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                      const at::Tensor& mat2, const at::Scalar& beta,
                      const at::Scalar& alpha, at::Tensor& out) {
  return products::addmm_out(self, mat1, mat2, beta, alpha, out,
                             [&] { check_addmm("addmm", self, mat1, mat2); });
}

at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2) {
  return products::bmm(self, mat2, [&] { check_bmm("bmm", self, mat2); });
}

at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                    at::Tensor& out) {
  return products::bmm_out(self, mat2, out,
                           [&] { check_bmm("bmm", self, mat2); });
}

at::Tensor baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                   const at::Tensor& batch2, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  return products::baddbmm(self, batch1, batch2, beta, alpha, [&] {
    check_baddbmm("baddbmm", self, batch1, batch2);
  });
}

at::Tensor& baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                        const at::Tensor& batch2, const at::Scalar& beta,
                        const at::Scalar& alpha, at::Tensor& out) {
  return products::baddbmm_out(self, batch1, batch2, beta, alpha, out, [&] {
    check_baddbmm("baddbmm", self, batch1, batch2);
  });
}

}  // namespace tunedops
