// aten's matrix-vector products, which `mv` and a matrix times a vector arrive
// at. They are products with one column, laid out as BLAS's gemv has it.

#include "ops/gemm.h"
#include "ops/originals.h"
#include "ops/tuned_or.h"

namespace tunedops {
namespace {

// A matrix-vector product as one of matrices: the vectors are single columns.
class VectorProduct {
 public:
  VectorProduct(const at::Tensor& self, const at::Tensor& mat,
                const at::Tensor& vec, const at::Scalar& beta,
                const at::Scalar& alpha)
      : mat_(mat), column_(vec.unsqueeze(1)),
        addend_(self.dim() == 1 ? self.unsqueeze(1) : self), beta_(beta),
        alpha_(alpha) {}

  static bool is_possible(const at::Tensor& self, const at::Tensor& mat,
                          const at::Tensor& vec) {
    return getTuningContext().is_active() && self.dim() <= 1 &&
           mat.dim() == 2 && vec.dim() == 1;
  }

  Product product(const at::Tensor* out = nullptr) const {
    Product product{.mat1 = mat_, .mat2 = column_};
    product.out = out;
    product.vector = true;
    product.addend = &addend_;
    product.beta = &beta_;
    product.alpha = &alpha_;
    return product;
  }

  const at::Tensor& addend() const { return addend_; }

 private:
  const at::Tensor& mat_;
  at::Tensor column_;
  at::Tensor addend_;
  const at::Scalar& beta_;
  const at::Scalar& alpha_;
};

}  // namespace

at::Tensor routed_addmv(const at::Tensor& self, const at::Tensor& mat,
                        const at::Tensor& vec, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  const auto original = [&] {
    return originals::addmv(self, mat, vec, beta, alpha);
  };
  if (!VectorProduct::is_possible(self, mat, vec)) {
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
  if (!VectorProduct::is_possible(self, mat, vec) || out.dim() != 1) {
    return original();
  }
  const VectorProduct vectors(self, mat, vec, beta, alpha);
  const at::Tensor column = out.unsqueeze(1);
  return tuned_out_or(vectors.product(&column), out, no_check, original);
}

at::Tensor& routed_addmv_(at::Tensor& self, const at::Tensor& mat,
                          const at::Tensor& vec, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  const auto original = [&]() -> at::Tensor& {
    return originals::addmv_(self, mat, vec, beta, alpha);
  };
  if (!VectorProduct::is_possible(self, mat, vec) || self.dim() != 1) {
    return original();
  }
  const VectorProduct vectors(self, mat, vec, beta, alpha);
  return tuned_out_or(vectors.product(&vectors.addend()), self, no_check,
                      original);
}

}  // namespace tunedops
