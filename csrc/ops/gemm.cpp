#include "ops/gemm.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "kernels/gemm/gemm_definition.h"
#include "ops/check_product.h"
#include "ops/context.h"
#include "ops/originals.h"
#include "ops/run_product.h"

namespace tunedops {
namespace {

bool is_active() { return getTuningContext().is_active(); }

// A bias in torch's sense: one value per column, added once. Anything else is
// an addend of the output's shape.
bool is_bias(const at::Tensor& self, const at::Tensor& mat2,
             const at::Scalar& beta) {
  return self.dim() == 1 && self.size(0) == mat2.size(mat2.dim() - 1) &&
         !beta.isComplex() && beta.toDouble() == 1 && mat2.dim() == 2;
}

Product sum_product(const char* op, const at::Tensor& self,
                    const at::Tensor& mat1, const at::Tensor& mat2,
                    const at::Scalar& beta, const at::Scalar& alpha) {
  Product product{.op = op, .mat1 = mat1, .mat2 = mat2};
  product.alpha = &alpha;
  if (is_bias(self, mat2, beta)) {
    product.bias = &self;
  } else {
    product.addend = &self;
    product.beta = &beta;
  }
  return product;
}

// Shapes that aten's own checks would let pass. Where they would not, the
// original runs and says so in torch's words.
bool fits(const at::Tensor& mat1, const at::Tensor& mat2, int dims) {
  return mat1.dim() == dims && mat2.dim() == dims &&
         mat1.size(dims - 1) == mat2.size(dims - 2) &&
         (dims == 2 || mat1.size(0) == mat2.size(0)) &&
         mat1.scalar_type() == mat2.scalar_type() &&
         mat1.device() == mat2.device();
}

bool fits(const at::Tensor& self, const at::Tensor& mat1,
          const at::Tensor& mat2, int dims) {
  return fits(mat1, mat2, dims) && self.dim() <= dims &&
         self.scalar_type() == mat1.scalar_type() &&
         self.device() == mat1.device();
}

bool expands_to(const at::Tensor& self, at::IntArrayRef sizes) {
  const auto offset = static_cast<std::int64_t>(sizes.size()) - self.dim();
  for (std::int64_t i = 0; i < self.dim(); ++i) {
    if (self.size(i) != 1 && self.size(i) != sizes[offset + i]) {
      return false;
    }
  }
  return offset >= 0;
}

}  // namespace

// --- aten's products --------------------------------------------------------

at::Tensor routed_mm(const at::Tensor& self, const at::Tensor& mat2) {
  if (is_active() && fits(self, mat2, 2)) {
    const Product product{.op = "mm", .mat1 = self, .mat2 = mat2};
    if (at::Tensor out =
            run_tuned(product, {self.size(0), mat2.size(1)});
        out.defined()) {
      return out;
    }
  }
  return originals::mm(self, mat2);
}

at::Tensor& routed_mm_out(const at::Tensor& self, const at::Tensor& mat2,
                          at::Tensor& out) {
  if (is_active() && fits(self, mat2, 2) &&
      run_tuned_out({.op = "mm", .mat1 = self, .mat2 = mat2}, out)) {
    return out;
  }
  return originals::mm_outf(self, mat2, out);
}

at::Tensor routed_bmm(const at::Tensor& self, const at::Tensor& mat2) {
  if (is_active() && fits(self, mat2, 3)) {
    const Product product{.op = "bmm", .mat1 = self, .mat2 = mat2};
    if (at::Tensor out = run_tuned(
            product, {self.size(0), self.size(1), mat2.size(2)});
        out.defined()) {
      return out;
    }
  }
  return originals::bmm(self, mat2);
}

at::Tensor& routed_bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                           at::Tensor& out) {
  if (is_active() && fits(self, mat2, 3) &&
      run_tuned_out({.op = "bmm", .mat1 = self, .mat2 = mat2}, out)) {
    return out;
  }
  return originals::bmm_outf(self, mat2, out);
}

at::Tensor routed_addmm(const at::Tensor& self, const at::Tensor& mat1,
                        const at::Tensor& mat2, const at::Scalar& beta,
                        const at::Scalar& alpha) {
  if (is_active() && fits(self, mat1, mat2, 2)) {
    const std::array<std::int64_t, 2> sizes{mat1.size(0), mat2.size(1)};
    if (expands_to(self, sizes)) {
      if (at::Tensor out = run_tuned(
              sum_product("addmm", self, mat1, mat2, beta, alpha), sizes);
          out.defined()) {
        return out;
      }
    }
  }
  return originals::addmm(self, mat1, mat2, beta, alpha);
}

at::Tensor& routed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha, at::Tensor& out) {
  if (is_active() && fits(self, mat1, mat2, 2) &&
      expands_to(self, out.sizes()) &&
      run_tuned_out(sum_product("addmm", self, mat1, mat2, beta, alpha),
                    out)) {
    return out;
  }
  return originals::addmm_outf(self, mat1, mat2, beta, alpha, out);
}

at::Tensor& routed_addmm_(at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  // The out form with out = self would broadcast self; the in-place one must
  // not.
  if (self.dim() == 2) {
    return routed_addmm_out(self, mat1, mat2, beta, alpha, self);
  }
  return originals::addmm_(self, mat1, mat2, beta, alpha);
}

at::Tensor routed_baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                          const at::Tensor& batch2, const at::Scalar& beta,
                          const at::Scalar& alpha) {
  if (is_active() && fits(self, batch1, batch2, 3)) {
    const std::array<std::int64_t, 3> sizes{batch1.size(0), batch1.size(1),
                                            batch2.size(2)};
    if (expands_to(self, sizes)) {
      if (at::Tensor out = run_tuned(
              sum_product("baddbmm", self, batch1, batch2, beta, alpha),
              sizes);
          out.defined()) {
        return out;
      }
    }
  }
  return originals::baddbmm(self, batch1, batch2, beta, alpha);
}

at::Tensor& routed_baddbmm_out(const at::Tensor& self,
                               const at::Tensor& batch1,
                               const at::Tensor& batch2,
                               const at::Scalar& beta, const at::Scalar& alpha,
                               at::Tensor& out) {
  if (is_active() && fits(self, batch1, batch2, 3) &&
      expands_to(self, out.sizes()) &&
      run_tuned_out(sum_product("baddbmm", self, batch1, batch2, beta, alpha),
                    out)) {
    return out;
  }
  return originals::baddbmm_outf(self, batch1, batch2, beta, alpha, out);
}

at::Tensor& routed_baddbmm_(at::Tensor& self, const at::Tensor& batch1,
                            const at::Tensor& batch2, const at::Scalar& beta,
                            const at::Scalar& alpha) {
  if (self.dim() == 3) {
    return routed_baddbmm_out(self, batch1, batch2, beta, alpha, self);
  }
  return originals::baddbmm_(self, batch1, batch2, beta, alpha);
}

// --- Our ops: the same with our own checks ----------------------------------

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  check_mm("mm", self, mat2);
  return routed_mm(self, mat2);
}

at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2,
                   at::Tensor& out) {
  check_mm("mm", self, mat2);
  return routed_mm_out(self, mat2, out);
}

at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  check_addmm("addmm", self, mat1, mat2);
  return routed_addmm(self, mat1, mat2, beta, alpha);
}

at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                      const at::Tensor& mat2, const at::Scalar& beta,
                      const at::Scalar& alpha, at::Tensor& out) {
  check_addmm("addmm", self, mat1, mat2);
  return routed_addmm_out(self, mat1, mat2, beta, alpha, out);
}

at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2) {
  check_bmm("bmm", self, mat2);
  return routed_bmm(self, mat2);
}

at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                    at::Tensor& out) {
  check_bmm("bmm", self, mat2);
  return routed_bmm_out(self, mat2, out);
}

at::Tensor baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                   const at::Tensor& batch2, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  check_baddbmm("baddbmm", self, batch1, batch2);
  return routed_baddbmm(self, batch1, batch2, beta, alpha);
}

at::Tensor& baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                        const at::Tensor& batch2, const at::Scalar& beta,
                        const at::Scalar& alpha, at::Tensor& out) {
  check_baddbmm("baddbmm", self, batch1, batch2);
  return routed_baddbmm_out(self, batch1, batch2, beta, alpha, out);
}

Activation parse_activation(std::string_view name) {
  const auto activation = activation_from_text(name);
  TORCH_CHECK(activation.has_value(),
              "linear: activation must be one of none, relu, gelu, gelu_tanh, "
              "got '",
              name, "'");
  return *activation;
}

at::Tensor original_linear(const at::Tensor& input, const at::Tensor& weight,
                           const std::optional<at::Tensor>& bias,
                           Activation activation) {
  at::Tensor out = at::linear(input, weight, bias);
  switch (activation) {
    case Activation::kNone:
      return out;
    case Activation::kRelu:
      return at::relu(out);
    case Activation::kGelu:
      return at::gelu(out, "none");
    case Activation::kGeluTanh:
      return at::gelu(out, "tanh");
  }
  return out;
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias,
                  std::string_view activation_name) {
  check_linear(input, weight, bias);
  const Activation activation = parse_activation(activation_name);
  if (is_active() && input.numel() > 0) {
    c10::DimVector sizes(input.sizes());
    sizes.back() = weight.size(0);
    // Rows of any rank are the rows of one matrix (a copy where their strides
    // allow no view, as torch does it).
    const at::Tensor rows =
        input.dim() == 2 ? input : input.reshape({-1, input.size(-1)});
    const at::Tensor weight_t = weight.t();
    Product product{.op = "linear", .mat1 = rows, .mat2 = weight_t};
    product.bias = bias ? &*bias : nullptr;
    product.activation = activation;
    if (at::Tensor out = run_tuned(product, sizes); out.defined()) {
      return out;
    }
  }
  return original_linear(input, weight, bias, activation);
}

}  // namespace tunedops
