#pragma once

// What the ops with more than two operands ask for, as a product. One argument
// of aten's addmm and baddbmm is two things: a bias that a kernel adds on its
// way, or what the output holds beforehand.

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

/// A layer's, of its rows and its weight transposed.
inline Product layer_product(const at::Tensor& rows, const at::Tensor& weight_t,
                             const std::optional<at::Tensor>& bias,
                             Activation activation) {
  Product product{.mat1 = rows, .mat2 = weight_t};
  product.bias = bias && bias->defined() ? &*bias : nullptr;
  product.activation = activation;
  return product;
}

/// The same with the activation of aten::_addmm_activation. What `use_gelu`
/// means: with tanh on GPUs, where cuBLASLt computes it, and with erf on CPUs.
inline Product activated(Product product, bool use_gelu) {
  product.activation = !use_gelu                ? Activation::kRelu
                       : product.mat1.is_cuda() ? Activation::kGeluTanh
                                                : Activation::kGelu;
  return product;
}

/// The same with an output type of the caller's choice.
inline Product with_dtype(Product product, at::ScalarType out_dtype) {
  product.asked_dtype = out_dtype;
  return product;
}

/// The same, written to `out`.
inline Product into(Product product, const at::Tensor& out) {
  product.out = &out;
  return product;
}

}  // namespace tunedops
