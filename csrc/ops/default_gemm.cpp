#include "ops/default_gemm.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include "ops/aten_plan.h"
#include "ops/device_stream.h"
#include "ops/dtype_map.h"
#include "ops/originals.h"

namespace tunedops {
namespace {

void activate_in_place(at::Tensor& out, Activation activation) {
  switch (activation) {
  case Activation::kNone:
    return;
  case Activation::kRelu:
    at::relu_(out);
    return;
  case Activation::kGelu:
    at::gelu_(out, "none");
    return;
  case Activation::kGeluTanh:
    at::gelu_(out, "tanh");
    return;
  }
}

// Whether the output's type is not the operands', for which torch has forms of
// its own.
bool has_own_out_dtype(const GemmProblem& p) {
  return p.out_dtype != p.a_dtype;
}

// The product that the program would have run, into an output that exists.
// `out_dtype` is given to the forms that take one, and nothing to the others.
template <class... OutDType>
void multiply(const GemmProblem& p, const GemmTensors& t, double alpha,
              double beta, OutDType... out_dtype) {
  at::Tensor out = t.out;
  if (p.batched) {
    if (p.alpha == ScalarClass::kOne && p.beta == ScalarClass::kZero) {
      originals::bmm_outf(t.x, t.w, out_dtype..., out);
    } else {
      originals::baddbmm_outf(out, t.x, t.w, out_dtype..., beta, alpha, out);
    }
  } else if (t.bias.defined()) {
    originals::addmm_outf(t.bias, t.x, t.w, out_dtype..., 1, alpha, out);
  } else if (p.alpha == ScalarClass::kOne && p.beta == ScalarClass::kZero) {
    originals::mm_outf(t.x, t.w, out_dtype..., out);
  } else {
    originals::addmm_outf(out, t.x, t.w, out_dtype..., beta, alpha, out);
  }
  activate_in_place(out, p.activation);
}

void run_original(const GemmProblem& p, const GemmTensors& t, double alpha,
                  double beta) {
#ifdef TUNEDOPS_USE_CUDA
  if (has_own_out_dtype(p)) {
    return multiply(p, t, alpha, beta, scalar_type_of(p.out_dtype));
  }
#endif
  multiply(p, t, alpha, beta);
}

class DefaultPlan final : public Plan {
 public:
  explicit DefaultPlan(const GemmProblem& problem) : problem_(problem) {}

  Status run(const Arguments& arguments, Stream stream) const override {
    return bind(arguments, stream)();
  }

  Launch bind(const Arguments& arguments, Stream stream) const override {
    return [this, tensors = wrap_operands(problem_, arguments),
            alpha = arguments.alpha, beta = arguments.beta, stream] {
      return write_by_aten([&] {
        with_stream(problem_.header, stream,
                    [&] { run_original(problem_, tensors, alpha, beta); });
      });
    };
  }

  int launches() const override {
    const bool activates = problem_.activation != Activation::kNone;
    // Torch copies this bias into the output first.
    const bool copies_bias = problem_.has_bias() && has_own_out_dtype(problem_);
    return 1 + static_cast<int>(activates) + static_cast<int>(copies_bias);
  }

 private:
  GemmProblem problem_;
};

}  // namespace

Status DefaultGemm::do_supports(const GemmProblem& p) const {
  if (p.has_bias() && (p.batched || p.beta != ScalarClass::kZero)) {
    return Status::unsupported("torch has no product with bias and beta");
  }
  const bool widens = p.out_dtype == DType::kFloat32 && size_of(p.a_dtype) == 2;
  if (p.b_dtype != p.a_dtype || (has_own_out_dtype(p) && !widens)) {
    return Status::unsupported(
        "torch wants one type for all operands, or float out of 16 bits");
  }
  if (has_own_out_dtype(p) && device_type_ == DeviceType::kCpu) {
    return Status::unsupported(
        "torch has products with an output type of their own on GPUs only");
  }
  if (p.has_bias() && p.bias_dtype != p.a_dtype &&
      p.bias_dtype != p.out_dtype) {
    return Status::unsupported(
        "torch wants a bias of the operands' type or of the output's");
  }
  return Status::ok();
}

std::unique_ptr<Plan> DefaultGemm::do_prepare(const GemmProblem& problem,
                                              const Config&) const {
  return std::make_unique<DefaultPlan>(problem);
}

}  // namespace tunedops
