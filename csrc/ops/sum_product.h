#pragma once

// What aten's addmm and baddbmm ask for, as a product. One argument of theirs
// is two things: a bias that a kernel adds on its way, or what the output holds
// beforehand.

#include "ops/product.h"

namespace tunedops {

/// A bias in torch's sense: one value per column, added once. Anything else is
/// an addend of the output's shape.
inline bool is_bias(const at::Tensor& self, const at::Tensor& mat2,
                    const at::Scalar& beta) {
  return self.dim() == 1 && mat2.dim() == 2 && self.size(0) == mat2.size(1) &&
         !beta.isComplex() && beta.toDouble() == 1;
}

inline Product sum_product(int dims, const at::Tensor& self,
                           const at::Tensor& mat1, const at::Tensor& mat2,
                           const at::Scalar& beta, const at::Scalar& alpha) {
  Product product{.mat1 = mat1, .mat2 = mat2, .dims = dims};
  product.alpha = &alpha;
  if (is_bias(self, mat2, beta)) {
    product.bias = &self;
  } else {
    product.addend = &self;
    product.beta = &beta;
  }
  return product;
}

/// The same, written to `out`.
inline Product into(Product product, const at::Tensor& out) {
  product.out = &out;
  return product;
}

}  // namespace tunedops
