#include "ops/run_product.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_unsafe_view.h>
#include <ATen/ops/empty.h>

#include "ops/aten_plan.h"
#include "ops/context.h"
#include "ops/device_stream.h"

namespace tunedops {
namespace {

// What a plan reads: the operand itself or, where no dimension is consecutive,
// a copy. Holds a reference count only if there is a copy.
class PlanOperand {
 public:
  explicit PlanOperand(const at::Tensor& tensor)
      : copy_(layout_of(tensor).needs_copy ? tensor.resolve_neg().contiguous()
                                           : at::Tensor()),
        tensor_(copy_.defined() ? copy_ : tensor) {}

  const at::Tensor& tensor() const { return tensor_; }
  void* data() const { return const_cast<void*>(tensor_.const_data_ptr()); }

 private:
  at::Tensor copy_;
  const at::Tensor& tensor_;
};

double value_of(const at::Scalar* scalar, double absent) {
  return scalar == nullptr ? absent : scalar->toDouble();
}

at::Tensor empty_like_product(const Product& product, at::IntArrayRef sizes) {
  if (product.mat1.is_cpu()) {
    return at::detail::empty_cpu(sizes, product.mat1.scalar_type());
  }
  return at::empty(sizes, product.mat1.options());
}

bool run_raw(const Plan& plan, const Product& product,
             const GemmProblem& problem, bool swapped, const at::Tensor& out) {
  const PlanOperand a(swapped ? product.mat2 : product.mat1);
  const PlanOperand b(swapped ? product.mat1 : product.mat2);
  Arguments arguments;
  arguments.operands[kGemmA] = a.data();
  arguments.operands[kGemmB] = b.data();
  arguments.operands[kGemmOut] = out.mutable_data_ptr();
  if (product.bias != nullptr) {
    arguments.operands[kGemmBias] =
        const_cast<void*>(product.bias->const_data_ptr());
  }
  arguments.alpha = value_of(product.alpha, 1);
  arguments.beta = value_of(product.beta, 0);
  const Stream stream = current_stream(out);
  const Workspace workspace(plan, out, stream);
  arguments.workspace = workspace.data();
  arguments.counters = workspace.counters();
  const Status status =
      workspace.is_there()
          ? plan.run(arguments, stream)
          : Status::failed("there is no memory for its workspace");
  if (!status.is_ok()) {
    getTuningContext().report_failed_run(to_key(problem), status);
  }
  return status.is_ok();
}

// The plan's own tensor, or an undefined one if it could not run.
at::Tensor run_aten_plan(const Plan& plan, const Product& product,
                         const GemmProblem& problem) {
  const PlanOperand mat1(product.mat1);
  const PlanOperand mat2(product.mat2);
  at::Tensor out;
  const Status status = run_aten([&] {
    out = static_cast<const AtenGemmPlan&>(plan).call(
        mat1.tensor(), mat2.tensor(), product.bias);
  });
  if (!status.is_ok()) {
    getTuningContext().report_failed_run(to_key(problem), status);
  }
  return out;
}

struct ByteRange {
  const char* begin;
  const char* end;
};

ByteRange bytes_of(const at::Tensor& tensor) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    last += (tensor.size(i) - 1) * tensor.stride(i);
  }
  const auto* begin = static_cast<const char*>(tensor.const_data_ptr());
  return {begin,
          begin + (last + 1) * static_cast<std::int64_t>(tensor.itemsize())};
}

// Whether they share memory, or might: interleaved views count as sharing.
bool overlaps(const at::Tensor& out, const at::Tensor& input) {
  if (!out.storage().is_alias_of(input.storage())) {
    return false;
  }
  const ByteRange left = bytes_of(out);
  const ByteRange right = bytes_of(input);
  return left.begin < right.end && right.begin < left.end;
}

// Whether matrices of a batch could share elements; rows of one cannot.
bool overlaps_itself(const at::Tensor& out, const MatrixLayout& layout) {
  if (out.dim() < 3 || out.size(0) == 1) {
    return false;
  }
  const std::int64_t runs = out.size(layout.row_major ? 1 : 2);
  const std::int64_t run = out.size(layout.row_major ? 2 : 1);
  return layout.batch_stride < (runs - 1) * layout.ld + run;
}

bool reads_addend(const GemmProblem& problem) {
  return problem.beta != ScalarClass::kZero;
}

// An output that the original would not resize, cast or reject, and that no
// input is read from.
bool is_plain_output(const Product& product, const at::Tensor& out) {
  const int dims = product.dims;
  if (out.dim() != dims || out.scalar_type() != product.mat1.scalar_type() ||
      out.device() != product.mat1.device() || out.is_neg() || out.is_conj() ||
      out.size(dims - 2) != product.rows() ||
      out.size(dims - 1) != product.columns() ||
      (dims == 3 && out.size(0) != product.mat1.size(0))) {
    return false;
  }
  const MatrixLayout layout = layout_of(out);
  return !layout.needs_copy && !overlaps_itself(out, layout) &&
         !overlaps(out, product.mat1) && !overlaps(out, product.mat2) &&
         (product.bias == nullptr || !overlaps(out, *product.bias));
}

}  // namespace

at::Tensor run_tuned(const Product& product, at::IntArrayRef sizes) {
  const CurrentDevice device(product.mat1);
  const OutputLayout output = fresh_output(product);
  GemmProblem problem;
  if (!describe(product, output, problem)) {
    return {};
  }
  const Plan* plan = getTuningContext().plan_for(to_key(problem),
                                                 current_stream(product.mat1));
  if (plan == nullptr) {
    return {};
  }
  if (plan->takes_tensors()) {
    const at::Tensor out = run_aten_plan(*plan, product, problem);
    return !out.defined() || out.sizes() == sizes
               ? out
               : at::_unsafe_view(out, sizes);
  }
  at::Tensor out = empty_like_product(product, sizes);
  if (reads_addend(problem)) {
    out.view(ProductSizes(product)).copy_(*product.addend);
  }
  return run_raw(*plan, product, problem, output.layout.row_major, out)
             ? out
             : at::Tensor();
}

bool run_tuned_out(const Product& product, const at::Tensor& out) {
  const CurrentDevice device(product.mat1);
  if (!is_plain_output(product, out)) {
    return false;
  }
  MatrixLayout layout = layout_of(out);
  if (product.vector && out.stride(0) == 1) {
    layout = fresh_output(product).layout;
  }
  GemmProblem problem;
  if (!describe(product, {.layout = layout, .alignment = alignment_of(out)},
                problem)) {
    return false;
  }
  const bool in_place =
      product.addend != nullptr && product.addend->is_same(out);
  if (reads_addend(problem) && !in_place && overlaps(out, *product.addend)) {
    return false;
  }
  const Plan* plan =
      getTuningContext().plan_for(to_key(problem), current_stream(out));
  if (plan == nullptr) {
    return false;
  }
  if (plan->takes_tensors()) {
    const at::Tensor result = run_aten_plan(*plan, product, problem);
    if (result.defined()) {
      out.copy_(result);
    }
    return result.defined();
  }
  if (reads_addend(problem) && !in_place) {
    out.copy_(*product.addend);
  }
  return run_raw(*plan, product, problem, layout.row_major, out);
}

}  // namespace tunedops
