#include "ops/gemm.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "kernels/gemm/gemm_definition.h"
#include "ops/check_product.h"
#include "ops/originals.h"
#include "ops/tuned_or.h"

namespace tunedops {
namespace {

// Asks in detail, to say what is wrong, only where something is: the common
// call pays for one look at its operands.
template <class Check>
void require(const Product& product, const Check& check) {
  if (!product.is_sound()) [[unlikely]] {
    check();
  }
}

}  // namespace

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  return tuned_or(
      {.mat1 = self, .mat2 = mat2}, [&] { check_mm("mm", self, mat2); },
      [&] { return originals::mm(self, mat2); });
}

at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2,
                   at::Tensor& out) {
  require({.mat1 = self, .mat2 = mat2}, [&] { check_mm("mm", self, mat2); });
  return routed_mm_out(self, mat2, out);
}

at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  require({.mat1 = mat1, .mat2 = mat2, .addend = &self},
          [&] { check_addmm("addmm", self, mat1, mat2); });
  return routed_addmm(self, mat1, mat2, beta, alpha);
}

at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                      const at::Tensor& mat2, const at::Scalar& beta,
                      const at::Scalar& alpha, at::Tensor& out) {
  require({.mat1 = mat1, .mat2 = mat2, .addend = &self},
          [&] { check_addmm("addmm", self, mat1, mat2); });
  return routed_addmm_out(self, mat1, mat2, beta, alpha, out);
}

at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2) {
  return tuned_or(
      {.mat1 = self, .mat2 = mat2, .dims = 3},
      [&] { check_bmm("bmm", self, mat2); },
      [&] { return originals::bmm(self, mat2); });
}

at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2,
                    at::Tensor& out) {
  require({.mat1 = self, .mat2 = mat2, .dims = 3},
          [&] { check_bmm("bmm", self, mat2); });
  return routed_bmm_out(self, mat2, out);
}

at::Tensor baddbmm(const at::Tensor& self, const at::Tensor& batch1,
                   const at::Tensor& batch2, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  require({.mat1 = batch1, .mat2 = batch2, .dims = 3, .addend = &self},
          [&] { check_baddbmm("baddbmm", self, batch1, batch2); });
  return routed_baddbmm(self, batch1, batch2, beta, alpha);
}

at::Tensor& baddbmm_out(const at::Tensor& self, const at::Tensor& batch1,
                        const at::Tensor& batch2, const at::Scalar& beta,
                        const at::Scalar& alpha, at::Tensor& out) {
  require({.mat1 = batch1, .mat2 = batch2, .dims = 3, .addend = &self},
          [&] { check_baddbmm("baddbmm", self, batch1, batch2); });
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
  if (getTuningContext().is_active() && input.numel() > 0) {
    c10::DimVector sizes(input.sizes());
    sizes.back() = weight.size(0);
    // Rows of any rank are the rows of one matrix (a copy where their strides
    // allow no view, as torch does it).
    const at::Tensor rows =
        input.dim() == 2 ? input : input.reshape({-1, input.size(-1)});
    const at::Tensor weight_t = weight.t();
    Product product{.mat1 = rows, .mat2 = weight_t};
    product.bias = bias ? &*bias : nullptr;
    product.activation = activation;
    if (at::Tensor out = run_tuned(product, sizes); out.defined()) {
      return out;
    }
    // Default was chosen for the whole layer, so also for the product in it.
    const OriginalsOnly mark;
    return original_linear(input, weight, bias, activation);
  }
  return original_linear(input, weight, bias, activation);
}

}  // namespace tunedops
