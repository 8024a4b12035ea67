#include "ops/run_product.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_unsafe_view.h>
#include <ATen/ops/empty.h>

#include "ops/aten_plan.h"
#include "ops/call_key.h"
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
    return at::detail::empty_cpu(sizes, product.out_dtype);
  }
  return at::empty(sizes, product.mat1.options().dtype(product.out_dtype));
}

// On raw memory, on the current stream of the output's device.
Status run_raw(const Plan& plan, Arguments& arguments, const at::Tensor& out) {
  const Stream stream = current_stream(out);
  const Workspace workspace(plan, out, stream);
  arguments.workspace = workspace.data();
  arguments.counters = workspace.counters();
  if (!workspace.is_there()) {
    return Status::failed("there is no memory for its workspace");
  }
  return status_of([&] { return plan.run(arguments, stream); });
}

// Whether it ran; if not, it is said (once) that Default runs instead.
bool succeeded(const Status& status, const Product& product,
               const OutputLayout& output) {
  if (status.is_ok()) [[likely]] {
    return true;
  }
  GemmProblem problem;
  if (describe(product, output, problem)) {
    getTuningContext().report_failed_run(to_key(problem), status);
  }
  return false;
}

// Any operands: those that have to are copied first.
bool run_into(const Plan& plan, const Product& product,
              const OutputLayout& output, const at::Tensor& out) {
  const bool swapped = output.layout.row_major;
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
  return succeeded(run_raw(plan, arguments, out), product, output);
}

// The plan's own tensor, or an undefined one if it could not run.
at::Tensor run_aten_plan(const Plan& plan, const Product& product,
                         const OutputLayout& output) {
  const PlanOperand mat1(product.mat1);
  const PlanOperand mat2(product.mat2);
  at::Tensor out;
  const Status status = run_aten([&] {
    out = static_cast<const AtenGemmPlan&>(plan).call(
        mat1.tensor(), mat2.tensor(), product.bias);
  });
  return succeeded(status, product, output) ? out : at::Tensor();
}

bool reads_addend(const Product& product) {
  return product.addend != nullptr && product.beta != nullptr &&
         product.beta->toDouble() != 0;
}

// A fresh output, or an undefined tensor if the plan could not run.
at::Tensor run_plan(const Plan& plan, const Product& product,
                    at::IntArrayRef sizes) {
  const OutputLayout output = fresh_output(product);
  if (plan.takes_tensors()) {
    const at::Tensor out = run_aten_plan(plan, product, output);
    return !out.defined() || out.sizes() == sizes
               ? out
               : at::_unsafe_view(out, sizes);
  }
  at::Tensor out = empty_like_product(product, sizes);
  if (reads_addend(product)) {
    out.view(ProductSizes(product)).copy_(*product.addend);
  }
  return run_into(plan, product, output, out) ? out : at::Tensor();
}

// What is noted of a call whose operands are read as they lie.
constexpr std::uint32_t kReadAsTheyLie = 1;

std::uint32_t note_of(const Product& product) {
  return layout_of(product.mat1).needs_copy ||
                 layout_of(product.mat2).needs_copy
             ? 0
             : kReadAsTheyLie;
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

// An output that the original would not resize, cast or reject, and that no
// input is read from.
bool is_plain_output(const Product& product, const at::Tensor& out) {
  const int dims = product.dims;
  if (out.dim() != dims || out.scalar_type() != product.out_dtype ||
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

Attempt run_known(const Product& product, at::IntArrayRef sizes) {
  Call call;
  if (!read_call(product, call)) {
    return {};
  }
  const PlanCache::Entry* const known = getTuningContext().known(call.key);
  if (known == nullptr) {
    return {};
  }
  if (known->plan == nullptr) {
    return {.is_known = true, .out = {}};
  }
  const CurrentDevice device(product.mat1);
  const Plan& plan = *known->plan;
  if (known->note != kReadAsTheyLie || plan.takes_tensors()) {
    return {.is_known = true, .out = run_plan(plan, product, sizes)};
  }
  at::Tensor out = empty_like_product(product, sizes);
  Arguments arguments;
  arguments.operands[kGemmA] = product.vector ? call.mat1 : call.mat2;
  arguments.operands[kGemmB] = product.vector ? call.mat2 : call.mat1;
  arguments.operands[kGemmOut] = out.mutable_data_ptr();
  arguments.operands[kGemmBias] = call.bias;
  if (!succeeded(run_raw(plan, arguments, out), product,
                 fresh_output(product))) {
    out = at::Tensor();
  }
  return {.is_known = true, .out = std::move(out)};
}

at::Tensor run_new(const Product& product, at::IntArrayRef sizes) {
  const CurrentDevice device(product.mat1);
  GemmProblem problem;
  if (!describe(product, fresh_output(product), problem)) {
    return {};
  }
  TuningContext& context = getTuningContext();
  const Stream stream = current_stream(product.mat1);
  Call call;
  const Plan* const plan = read_call(product, call)
                               ? context.plan_for(to_key(problem), stream,
                                                  call.key, note_of(product))
                               : context.plan_for(to_key(problem), stream);
  return plan == nullptr ? at::Tensor() : run_plan(*plan, product, sizes);
}

at::Tensor run_tuned(const Product& product, at::IntArrayRef sizes) {
  Attempt attempt = run_known(product, sizes);
  return attempt.is_known ? std::move(attempt.out) : run_new(product, sizes);
}

bool run_tuned_out(const Product& product, const at::Tensor& out) {
  const CurrentDevice device(product.mat1);
  if (!is_plain_output(product, out)) {
    return false;
  }
  OutputLayout output{.layout = layout_of(out), .alignment = alignment_of(out)};
  if (product.vector && out.stride(0) == 1) {
    output.layout = fresh_output(product).layout;
  }
  GemmProblem problem;
  if (!describe(product, output, problem)) {
    return false;
  }
  const bool in_place =
      product.addend != nullptr && product.addend->is_same(out);
  const bool copies_addend = reads_addend(product) && !in_place;
  if (copies_addend && overlaps(out, *product.addend)) {
    return false;
  }
  const Plan* plan =
      getTuningContext().plan_for(to_key(problem), current_stream(out));
  if (plan == nullptr) {
    return false;
  }
  if (plan->takes_tensors()) {
    const at::Tensor result = run_aten_plan(*plan, product, output);
    if (result.defined()) {
      out.copy_(result);
    }
    return result.defined();
  }
  if (copies_addend) {
    out.copy_(*product.addend);
  }
  return run_into(*plan, product, output, out);
}

}  // namespace tunedops
