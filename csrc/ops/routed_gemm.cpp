// aten's products, computed by the chosen plan where there is one. Our own ops
// (gemm.cpp) are these with checks before them.

#include "ops/gemm.h"
#include "ops/originals.h"
#include "ops/tuned_or.h"

namespace tunedops {
namespace {

// torch's own words are what a caller of aten's products expects to hear.
constexpr auto no_check = [] {};

template <class Original>
at::Tensor& tuned_out_or(const Product& product, at::Tensor& out,
                         const Original& original) {
  if (getTuningContext().is_active() && product.is_sound() &&
      run_tuned_out(product, out)) {
    return out;
  }
  return original();
}

// A bias in torch's sense: one value per column, added once. Anything else is
// an addend of the output's shape.
bool is_bias(const at::Tensor& self, const at::Tensor& mat2,
             const at::Scalar& beta) {
  return self.dim() == 1 && mat2.dim() == 2 && self.size(0) == mat2.size(1) &&
         !beta.isComplex() && beta.toDouble() == 1;
}

Product sum_product(int dims, const at::Tensor& self, const at::Tensor& mat1,
                    const at::Tensor& mat2, const at::Scalar& beta,
                    const at::Scalar& alpha) {
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

// What torch's `use_gelu` means: with tanh on GPUs, where cuBLASLt computes it,
// and with erf on CPUs.
Activation fused_activation(const at::Tensor& self, bool use_gelu) {
  if (!use_gelu) {
    return Activation::kRelu;
  }
  return self.is_cuda() ? Activation::kGeluTanh : Activation::kGelu;
}

}  // namespace

at::Tensor routed_mm(const at::Tensor& self, const at::Tensor& mat2) {
  return tuned_or({.mat1 = self, .mat2 = mat2}, no_check,
                  [&] { return originals::mm(self, mat2); });
}

at::Tensor& routed_mm_out(const at::Tensor& self, const at::Tensor& mat2,
                          at::Tensor& out) {
  return tuned_out_or({.mat1 = self, .mat2 = mat2}, out, [&]() -> at::Tensor& {
    return originals::mm_outf(self, mat2, out);
  });
}

at::Tensor routed_bmm(const at::Tensor& self, const at::Tensor& mat2) {
  return tuned_or({.mat1 = self, .mat2 = mat2, .dims = 3}, no_check,
                  [&] { return originals::bmm(self, mat2); });
}

at::Tensor& routed_bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                           at::Tensor& out) {
  return tuned_out_or(
      {.mat1 = self, .mat2 = mat2, .dims = 3}, out,
      [&]() -> at::Tensor& { return originals::bmm_outf(self, mat2, out); });
}

at::Tensor routed_addmm(const at::Tensor& self, const at::Tensor& mat1,
                        const at::Tensor& mat2, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  return tuned_or(sum_product(2, self, mat1, mat2, beta, alpha), no_check, [&] {
    return originals::addmm(self, mat1, mat2, beta, alpha);
  });
}

at::Tensor& routed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out) {
  return tuned_out_or(
      sum_product(2, self, mat1, mat2, beta, alpha), out, [&]() -> at::Tensor& {
        return originals::addmm_outf(self, mat1, mat2, beta, alpha, out);
      });
}

at::Tensor& routed_addmm_(at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return tuned_out_or(sum_product(2, self, mat1, mat2, beta, alpha), self,
                      [&]() -> at::Tensor& {
                        return originals::addmm_(self, mat1, mat2, beta, alpha);
                      });
}

at::Tensor routed_baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                          const at::Tensor& batch2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  return tuned_or(
      sum_product(3, self, batch1, batch2, beta, alpha), no_check,
      [&] { return originals::baddbmm(self, batch1, batch2, beta, alpha); });
}

at::Tensor& routed_baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                               const at::Tensor& batch2, const at::Scalar& beta,
                               const at::Scalar& alpha, at::Tensor& out) {
  return tuned_out_or(sum_product(3, self, batch1, batch2, beta, alpha), out,
                      [&]() -> at::Tensor& {
                        return originals::baddbmm_outf(self, batch1, batch2,
                                                       beta, alpha, out);
                      });
}

at::Tensor& routed_baddbmm_(at::Tensor& self, const at::Tensor& batch1,
                            const at::Tensor& batch2, const at::Scalar& beta,
                            const at::Scalar& alpha) {
  return tuned_out_or(sum_product(3, self, batch1, batch2, beta, alpha), self,
                      [&]() -> at::Tensor& {
                        return originals::baddbmm_(self, batch1, batch2, beta,
                                                   alpha);
                      });
}

at::Tensor routed_addmm_activation(const at::Tensor& self,
                                   const at::Tensor& mat1,
                                   const at::Tensor& mat2,
                                   const at::Scalar& beta,
                                   const at::Scalar& alpha, bool use_gelu) {
  Product product = sum_product(2, self, mat1, mat2, beta, alpha);
  product.activation = fused_activation(self, use_gelu);
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
  Product product = sum_product(2, self, mat1, mat2, beta, alpha);
  product.activation = fused_activation(self, use_gelu);
  return tuned_out_or(product, out, [&]() -> at::Tensor& {
    return originals::_addmm_activation_outf(self, mat1, mat2, beta, alpha,
                                             use_gelu, out);
  });
}

}  // namespace tunedops
