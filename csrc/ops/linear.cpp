// torch.ops.tunedops.linear: a layer's product, bias and activation at once.

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <optional>

#include "kernels/gemm/gemm_definition.h"
#include "ops/alias.h"
#include "ops/check_product.h"
#include "ops/gemm.h"
#include "ops/layer_shapes.h"
#include "ops/sum_product.h"
#include "ops/tuned_or.h"

namespace tunedops {
namespace {

// The sizes of a layer's output.
c10::DimVector output_sizes(const at::Tensor& input, const at::Tensor& weight) {
  c10::DimVector sizes(input.sizes());
  sizes.back() = weight.sizes()[0];
  return sizes;
}

}  // namespace

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
  const Activation activation = parse_activation(activation_name);
  const TuningContext& context = getTuningContext();
  if (!context.is_active()) {
    check_linear(input, weight, bias);
    return original_linear(input, weight, bias, activation);
  }
  const auto original = [&] {
    // Default was chosen for the whole layer, so also for the product in it.
    const OriginalsOnly mark;
    return original_linear(input, weight, bias, activation);
  };
  Product layer = layer_product(input, weight, bias, activation);
  c10::DimVector sizes;
  CallKey key;
  Call call;
  if (const std::size_t words = read_call<layer_shapes>(layer, key, call);
      words != 0) {
    sizes = output_sizes(input, weight);
    layer.sizes = sizes;
    const auto* const known = context.known(key, words, ThreadState::current());
    if (known != nullptr && known->plan == nullptr) {
      return original();
    }
    if (known != nullptr && (known->note & kOnAddresses) != 0) {
      const CurrentDevice device(call.device);
      KnownRun run(*known->plan, known->note, layer, call);
      if (run.status.is_ok()) {
        return std::move(run.out);
      }
    }
  }
  check_linear(input, weight, bias);
  if (input.numel() > 0) {
    // A copy where the strides allow no view, as torch does it.
    const std::optional<at::Tensor> view = rows_of(input);
    const at::Tensor rows = view ? *view : input.reshape({-1, input.size(-1)});
    const at::Tensor weight_t = transposed(weight);
    Product product = layer_product(rows, weight_t, bias, activation);
    sizes = output_sizes(input, weight);
    product.sizes = sizes;
    // It may be known as a product: one that needs its operands made.
    return tuned_or(product, no_check, original);
  }
  return original();
}

}  // namespace tunedops
