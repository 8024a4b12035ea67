// aten's matrix-vector products, which `mv` and a matrix times a vector arrive
// at.

#include "ops/gemm.h"
#include "ops/originals.h"
#include "ops/tuned_or.h"
#include "ops/vector_product.h"

namespace tunedops {
namespace {

bool is_possible(const at::Tensor& self, const at::Tensor& mat,
                 const at::Tensor& vec) {
  return getTuningContext().is_active() &&
         VectorProduct::is_possible(self, mat, vec);
}

}  // namespace

at::Tensor routed_addmv(const at::Tensor& self, const at::Tensor& mat,
                        const at::Tensor& vec, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  const auto original = [&] {
    return originals::addmv(self, mat, vec, beta, alpha);
  };
  if (!is_possible(self, mat, vec)) {
    return original();
  }
  const VectorProduct vectors(self, mat, vec, beta, alpha);
  Product product = vectors.product();
  product.sizes = {mat.sizes().data(), 1};
  return tuned_or(product, no_check, original);
}

at::Tensor& routed_addmv_out(const at::Tensor& self, const at::Tensor& mat,
                             const at::Tensor& vec, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out) {
  const auto original = [&]() -> at::Tensor& {
    return originals::addmv_outf(self, mat, vec, beta, alpha, out);
  };
  if (!is_possible(self, mat, vec) || out.dim() != 1) {
    return original();
  }
  const VectorProduct vectors(self, mat, vec, beta, alpha);
  const at::Tensor column = as_column(out);
  return tuned_out_or(vectors.product(&column), out, no_check, original);
}

at::Tensor& routed_addmv_(at::Tensor& self, const at::Tensor& mat,
                          const at::Tensor& vec, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  const auto original = [&]() -> at::Tensor& {
    return originals::addmv_(self, mat, vec, beta, alpha);
  };
  if (!is_possible(self, mat, vec) || self.dim() != 1) {
    return original();
  }
  const VectorProduct vectors(self, mat, vec, beta, alpha);
  return tuned_out_or(vectors.product(&vectors.addend()), self, no_check,
                      original);
}

}  // namespace tunedops
