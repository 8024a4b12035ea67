#pragma once

// A matrix-vector product as one of matrices: the vectors are single columns,
// laid out as BLAS's gemv has it.

#include "ops/alias.h"
#include "ops/product.h"

namespace tunedops {

class VectorProduct {
 public:
  VectorProduct(const at::Tensor& self, const at::Tensor& mat,
                const at::Tensor& vec, const at::Scalar& beta,
                const at::Scalar& alpha)
      : mat_(mat), column_(as_column(vec)),
        addend_(self.dim() == 1 ? as_column(self) : self), beta_(beta),
        alpha_(alpha) {}

  static bool is_possible(const at::Tensor& self, const at::Tensor& mat,
                          const at::Tensor& vec) {
    return self.dim() <= 1 && mat.dim() == 2 && vec.dim() == 1;
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

  /// What `self` is to a product in place.
  const at::Tensor& addend() const { return addend_; }

 private:
  const at::Tensor& mat_;
  at::Tensor column_;
  at::Tensor addend_;
  const at::Scalar& beta_;
  const at::Scalar& alpha_;
};

}  // namespace tunedops
