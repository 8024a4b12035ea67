#pragma once

// The products of torch.ops.tunedops and aten's own, which are the same but for
// who words the complaint about operands that make no product: `check` throws,
// or leaves it to torch's original.

#include "ops/originals.h"
#include "ops/sum_product.h"
#include "ops/tuned_or.h"

namespace tunedops::products {

template <class Check>
[[gnu::always_inline]] inline at::Tensor
mm(const at::Tensor& self, const at::Tensor& mat2, const Check& check) {
  return tuned_or({.mat1 = self, .mat2 = mat2}, check,
                  [&] { return originals::mm(self, mat2); });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor&
mm_out(const at::Tensor& self, const at::Tensor& mat2, at::Tensor& out,
       const Check& check) {
  return tuned_out_or(
      {.mat1 = self, .mat2 = mat2, .out = &out}, out, check,
      [&]() -> at::Tensor& { return originals::mm_outf(self, mat2, out); });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor
bmm(const at::Tensor& self, const at::Tensor& mat2, const Check& check) {
  return tuned_or({.mat1 = self, .mat2 = mat2, .dims = 3}, check,
                  [&] { return originals::bmm(self, mat2); });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor&
bmm_out(const at::Tensor& self, const at::Tensor& mat2, at::Tensor& out,
        const Check& check) {
  return tuned_out_or(
      {.mat1 = self, .mat2 = mat2, .dims = 3, .out = &out}, out, check,
      [&]() -> at::Tensor& { return originals::bmm_outf(self, mat2, out); });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor
addmm(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
      const at::Scalar& beta, const at::Scalar& alpha, const Check& check) {
  return tuned_or(sum_product(2, self, mat1, mat2, beta, alpha), check, [&] {
    return originals::addmm(self, mat1, mat2, beta, alpha);
  });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor&
addmm_out(const at::Tensor& self, const at::Tensor& mat1,
          const at::Tensor& mat2, const at::Scalar& beta,
          const at::Scalar& alpha, at::Tensor& out, const Check& check) {
  return tuned_out_or(into(sum_product(2, self, mat1, mat2, beta, alpha), out),
                      out, check, [&]() -> at::Tensor& {
                        return originals::addmm_outf(self, mat1, mat2, beta,
                                                     alpha, out);
                      });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor
baddbmm(const at::Tensor& self, const at::Tensor& batch1,
        const at::Tensor& batch2, const at::Scalar& beta,
        const at::Scalar& alpha, const Check& check) {
  return tuned_or(
      sum_product(3, self, batch1, batch2, beta, alpha), check,
      [&] { return originals::baddbmm(self, batch1, batch2, beta, alpha); });
}

template <class Check>
[[gnu::always_inline]] inline at::Tensor&
baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
            const at::Tensor& batch2, const at::Scalar& beta,
            const at::Scalar& alpha, at::Tensor& out, const Check& check) {
  return tuned_out_or(
      into(sum_product(3, self, batch1, batch2, beta, alpha), out), out, check,
      [&]() -> at::Tensor& {
        return originals::baddbmm_outf(self, batch1, batch2, beta, alpha, out);
      });
}

}  // namespace tunedops::products
