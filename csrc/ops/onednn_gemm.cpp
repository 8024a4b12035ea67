#include "ops/onednn_gemm.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/ones.h>

#include "ops/aten_plan.h"

namespace tunedops {
namespace {

using LinearPointwise = at::Tensor(const at::Tensor&, const at::Tensor&,
                                   const std::optional<at::Tensor>&,
                                   std::string_view,
                                   c10::List<std::optional<at::Scalar>>,
                                   std::optional<std::string_view>);

// Absent in builds of torch without oneDNN.
std::optional<c10::TypedOperatorHandle<LinearPointwise>> find_operator() {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto handle = dispatcher.findSchema({"mkldnn::_linear_pointwise", ""});
  if (!handle || !handle->hasKernelForDispatchKey(c10::DispatchKey::CPU)) {
    return std::nullopt;
  }
  return handle->typed<LinearPointwise>();
}

// oneDNN has no fp16 products on some processors, and says so only when asked
// for one.
bool multiplies_halves() {
  static const bool works =
      run_aten([] {
        const at::Tensor one = at::ones({1, 1}, at::kHalf);
        find_operator()->redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                    one, one, std::nullopt, "none",
                                    c10::List<std::optional<at::Scalar>>(), "");
      }).is_ok();
  return works;
}

struct Epilogue {
  std::string_view activation;
  std::string_view algorithm;
};

Epilogue epilogue_of(Activation activation) {
  switch (activation) {
  case Activation::kGelu:
    return {"gelu", "none"};
  case Activation::kGeluTanh:
    return {"gelu", "tanh"};
  case Activation::kNone:
  case Activation::kRelu:  // refused
    break;
  }
  return {"none", ""};
}

class OneDnnPlan final : public AtenGemmPlan {
 public:
  OneDnnPlan(const GemmProblem& problem,
             c10::TypedOperatorHandle<LinearPointwise> linear)
      : AtenGemmPlan(problem), linear_(linear),
        epilogue_(epilogue_of(problem.activation)) {}

  at::Tensor call(const at::Tensor& mat1, const at::Tensor& mat2,
                  const at::Tensor* bias) const override {
    return call_with_weight(mat1, mat2.t(), bias);
  }

  Status run(const Arguments& arguments, Stream) const override {
    const GemmTensors t = wrap_operands(problem(), arguments);
    return write_by_aten([&] { t.out.copy_(call(t.x, t.w, bias_of(t))); });
  }

  // Without the copy: a call hands on the tensor that the operator made.
  Launch bind(const Arguments& arguments, Stream) const override {
    const GemmTensors t = wrap_operands(problem(), arguments);
    return [this, t] { return run_aten([&] { call(t.x, t.w, bias_of(t)); }); };
  }

 private:
  static const at::Tensor* bias_of(const GemmTensors& tensors) {
    return tensors.bias.defined() ? &tensors.bias : nullptr;
  }

  at::Tensor call_with_weight(const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor* bias) const {
    return linear_.redispatch(
        c10::DispatchKeySet(c10::DispatchKey::CPU), x, weight,
        bias == nullptr ? std::nullopt : std::make_optional(*bias),
        epilogue_.activation, c10::List<std::optional<at::Scalar>>(),
        epilogue_.algorithm);
  }

  c10::TypedOperatorHandle<LinearPointwise> linear_;
  Epilogue epilogue_;
};

}  // namespace

Status OneDnnGemm::do_supports(const GemmProblem& p) const {
  if (!find_operator()) {
    return Status::unsupported("this build of torch has no oneDNN");
  }
  if ((p.header.precision & kOneDnnDisabled) != 0) {
    return Status::unsupported("torch.backends.mkldnn is switched off");
  }
  if (p.a_dtype != DType::kFloat32 && p.a_dtype != DType::kBFloat16 &&
      p.a_dtype != DType::kFloat16) {
    return Status::unsupported("float, BFloat16 and Half only");
  }
  if (p.a_dtype == DType::kFloat16 && !multiplies_halves()) {
    return Status::unsupported("no Half on this processor");
  }
  if (p.b_dtype != p.a_dtype || p.out_dtype != p.a_dtype ||
      (p.has_bias() && p.bias_dtype != p.a_dtype)) {
    return Status::unsupported("one type for all operands only");
  }
  if (p.activation == Activation::kRelu) {
    return Status::unsupported("its relu turns NaN into 0");
  }
  if (p.batched) {
    return Status::unsupported("no batched products");
  }
  if (p.alpha != ScalarClass::kOne || p.beta != ScalarClass::kZero) {
    return Status::unsupported("alpha 1 and beta 0 only");
  }
  return Status::ok();
}

std::unique_ptr<Plan> OneDnnGemm::do_prepare(const GemmProblem& problem,
                                             const Config&) const {
  return std::make_unique<OneDnnPlan>(problem, *find_operator());
}

}  // namespace tunedops
