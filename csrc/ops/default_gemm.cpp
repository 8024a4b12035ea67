#include "ops/default_gemm.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include "ops/aten_plan.h"
#include "ops/device_stream.h"
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

// The product that the program would have run, into an output that exists.
void run_original(const GemmProblem& p, const GemmTensors& t, double alpha,
                  double beta) {
  at::Tensor out = t.out;
  if (p.batched) {
    if (p.alpha == ScalarClass::kOne && p.beta == ScalarClass::kZero) {
      originals::bmm_outf(t.x, t.w, out);
    } else {
      originals::baddbmm_outf(out, t.x, t.w, beta, alpha, out);
    }
  } else if (t.bias.defined()) {
    originals::addmm_outf(t.bias, t.x, t.w, 1, alpha, out);
  } else if (p.alpha == ScalarClass::kOne && p.beta == ScalarClass::kZero) {
    originals::mm_outf(t.x, t.w, out);
  } else {
    originals::addmm_outf(out, t.x, t.w, beta, alpha, out);
  }
  activate_in_place(out, p.activation);
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
      return run_aten([&] {
        with_stream(problem_.header, stream,
                    [&] { run_original(problem_, tensors, alpha, beta); });
      });
    };
  }

  int launches() const override {
    return problem_.activation == Activation::kNone ? 1 : 2;
  }

 private:
  GemmProblem problem_;
};

}  // namespace

Status DefaultGemm::do_supports(const GemmProblem& p) const {
  if (p.has_bias() && (p.batched || p.beta != ScalarClass::kZero)) {
    return Status::unsupported("torch has no product with bias and beta");
  }
  if (p.out_dtype != p.a_dtype || p.b_dtype != p.a_dtype) {
    return Status::unsupported("torch wants one type for all operands");
  }
  return Status::ok();
}

std::unique_ptr<Plan> DefaultGemm::do_prepare(const GemmProblem& problem,
                                              const Config&) const {
  return std::make_unique<DefaultPlan>(problem);
}

}  // namespace tunedops
