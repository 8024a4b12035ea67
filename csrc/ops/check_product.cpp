#include "ops/check_product.h"

#include <ATen/ExpandUtils.h>

namespace tunedops {
namespace {

struct Named {
  const char* name;
  const at::Tensor& tensor;
};

void check_dims(const char* op, Named a, int dims) {
  TORCH_CHECK(a.tensor.dim() == dims, op, ": ", a.name, " must have ", dims,
              " dimensions, got shape ", a.tensor.sizes());
}

void check_alike(const char* op, Named a, Named b) {
  TORCH_CHECK(a.tensor.scalar_type() == b.tensor.scalar_type(), op, ": ",
              a.name, " and ", b.name, " must have the same dtype, got ",
              a.tensor.scalar_type(), " and ", b.tensor.scalar_type());
  TORCH_CHECK(a.tensor.device() == b.tensor.device(), op, ": ", a.name, " and ",
              b.name, " must be on the same device, got ", a.tensor.device(),
              " and ", b.tensor.device());
}

void check_inner(const char* op, Named a, Named b) {
  const auto dims = a.tensor.dim();
  TORCH_CHECK(a.tensor.size(dims - 1) == b.tensor.size(dims - 2), op, ": ",
              a.name, " and ", b.name, " must agree in K, got ",
              a.tensor.sizes(), " and ", b.tensor.sizes());
}

void check_expandable(const char* op, const at::Tensor& self,
                      at::IntArrayRef sizes) {
  TORCH_CHECK(at::is_expandable_to(self.sizes(), sizes), op,
              ": self must be expandable to the product's shape ", sizes,
              ", got ", self.sizes());
}

void check_pair(const char* op, Named a, Named b, int dims) {
  check_dims(op, a, dims);
  check_dims(op, b, dims);
  check_alike(op, a, b);
  if (dims == 3) {
    TORCH_CHECK(a.tensor.size(0) == b.tensor.size(0), op, ": ", a.name, " and ",
                b.name, " must have the same batch size, got ",
                a.tensor.sizes(), " and ", b.tensor.sizes());
  }
  check_inner(op, a, b);
}

}  // namespace

void check_mm(const char* op, const at::Tensor& self, const at::Tensor& mat2) {
  check_pair(op, {"self", self}, {"mat2", mat2}, 2);
}

void check_addmm(const char* op, const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2) {
  check_pair(op, {"mat1", mat1}, {"mat2", mat2}, 2);
  check_alike(op, {"self", self}, {"mat1", mat1});
  check_expandable(op, self, {mat1.size(0), mat2.size(1)});
}

void check_bmm(const char* op, const at::Tensor& self, const at::Tensor& mat2) {
  check_pair(op, {"self", self}, {"mat2", mat2}, 3);
}

void check_baddbmm(const char* op, const at::Tensor& self,
                   const at::Tensor& batch1, const at::Tensor& batch2) {
  check_pair(op, {"batch1", batch1}, {"batch2", batch2}, 3);
  check_alike(op, {"self", self}, {"batch1", batch1});
  check_expandable(op, self, {batch1.size(0), batch1.size(1), batch2.size(2)});
}

void check_linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias) {
  TORCH_CHECK(input.dim() >= 1,
              "linear: input must have at least 1 dimension, got a scalar");
  check_dims("linear", {"weight", weight}, 2);
  check_alike("linear", {"input", input}, {"weight", weight});
  TORCH_CHECK(input.size(-1) == weight.size(1),
              "linear: input and weight must agree in their last dimension "
              "(in_features), got ",
              input.sizes(), " and ", weight.sizes());
  if (bias && bias->defined()) {
    check_alike("linear", {"bias", *bias}, {"input", input});
    // Torch takes biases of more dimensions too.
    if (bias->dim() <= 1) {
      check_expandable("linear (bias)", *bias, {weight.size(0)});
    }
  }
}

}  // namespace tunedops
