#include "ops/run_product.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_unsafe_view.h>
#include <ATen/ops/empty.h>

#include "ops/aten_plan.h"
#include "ops/known_call.h"

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

// Whether it ran; if not, that is said.
bool succeeded(const Status& status, const Product& product) {
  if (!status.is_ok()) {
    report_failed_run(status, product);
  }
  return status.is_ok();
}

// Where the product's result lies, or will.
OutputLayout output_of(const Product& product) {
  if (product.out == nullptr) {
    return fresh_output(product);
  }
  const at::Tensor& out = *product.out;
  OutputLayout output{.layout = layout_of(out), .alignment = alignment_of(out)};
  if (product.vector && out.stride(0) == 1) {
    output.layout = fresh_output(product).layout;
  }
  return output;
}

// What is noted of a call.
std::uint32_t note_of(const Plan& plan, const Product& product) {
  const bool on_addresses = !plan.takes_tensors() &&
                            !layout_of(product.mat1).needs_copy &&
                            !layout_of(product.mat2).needs_copy;
  const bool needs_scratch =
      plan.workspace_bytes() > 0 || plan.counter_count() > 0;
  return (on_addresses ? kOnAddresses : 0U) |
         (output_of(product).layout.row_major ? kSwapped : 0U) |
         (needs_scratch ? kNeedsScratch : 0U);
}

// Any operands: those that have to are copied first.
bool run_into(const Plan& plan, const Product& product, const at::Tensor& out) {
  const PlanOperand mat1(product.mat1);
  const PlanOperand mat2(product.mat2);
  Call call;
  call.device = out.device();
  call.mat1 = mat1.data();
  call.mat2 = mat2.data();
  if (product.bias != nullptr) {
    call.bias = const_cast<void*>(product.bias->const_data_ptr());
  }
  return succeeded(run_on_addresses(plan, note_of(plan, product), product, call,
                                    out, out.mutable_data_ptr()),
                   product);
}

// The plan's own tensor, or an undefined one if it could not run.
at::Tensor run_aten_plan(const Plan& plan, const Product& product) {
  const PlanOperand mat1(product.mat1);
  const PlanOperand mat2(product.mat2);
  at::Tensor out;
  const Status status = run_aten([&] {
    out = static_cast<const AtenGemmPlan&>(plan).call(
        mat1.tensor(), mat2.tensor(), product.bias);
  });
  return succeeded(status, product) ? out : at::Tensor();
}

// The decision on a product, which is remembered for its call; null for torch's
// original. (The call is read anew: it is not always one that can be.)
const Plan* decide(const Product& product) {
  GemmProblem problem;
  if (problem_of(product, problem) != nullptr) {
    return nullptr;
  }
  TuningContext& context = getTuningContext();
  const ProblemKey key = to_key(problem);
  const Plan* const plan = context.plan_for(key, current_stream(product.mat1));
  CallKey call_key;
  Call call;
  if (const std::size_t words = read_call<shapes_of>(product, call_key, call);
      words != 0) {
    context.remember(call_key, words, key,
                     plan == nullptr ? 0 : note_of(*plan, product));
  }
  return plan;
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
  if (out.dim() != dims || out.scalar_type() != product.out_dtype() ||
      out.device() != product.mat1.device() || out.is_neg() || out.is_conj() ||
      out.size(dims - 2) != product.rows() ||
      out.size(dims - 1) != product.columns() ||
      (dims == 3 && out.size(0) != product.mat1.size(0))) {
    return false;
  }
  const MatrixLayout layout = layout_of(out);
  return !layout.needs_copy && !overlaps_itself(out, layout) &&
         !overlaps_input(product, out);
}

}  // namespace

const char* problem_of(const Product& product, GemmProblem& problem) {
  if (!product.is_sound()) {
    return "the operands make no product of matrices";
  }
  if (product.out != nullptr && !is_plain_output(product, *product.out)) {
    return "out has another shape, dtype or device than the product, overlaps "
           "itself or an operand, or has no consecutive dimension";
  }
  return describe(product, output_of(product), problem);
}

bool may_overlap(const at::Tensor& out, const at::Tensor& input) {
  const ByteRange left = bytes_of(out);
  const ByteRange right = bytes_of(input);
  return left.begin < right.end && right.begin < left.end;
}

void report_failed_run(const Status& status, Product product) {
  const bool is_addend_lost =
      status.was_thrown() && product.is_in_place() && product.reads_addend();
  GemmProblem problem;
  const bool is_described =
      describe(product, output_of(product), problem) == nullptr;
  if (is_addend_lost) {
    getTuningContext().throw_failed_run(to_key(problem), status);
  }
  if (is_described) {
    getTuningContext().report_failed_run(to_key(problem), status);
  }
}

void write_addend(Product product, const at::Tensor& out) {
  if (product.copies_addend()) {
    out.view(ProductSizes(product)).copy_(*product.addend);
  }
}

at::Tensor run_plan(const Plan& plan, Product product) {
  if (plan.takes_tensors()) {
    const at::Tensor out = run_aten_plan(plan, product);
    return !out.defined() || product.sizes.empty() ||
                   out.sizes() == product.sizes
               ? out
               : at::_unsafe_view(out, product.sizes);
  }
  at::Tensor out = empty_output(product.mat1.device(), product.out_dtype(),
                                product.sizes.empty() ? ProductSizes(product)
                                                      : product.sizes);
  write_addend(product, out);
  return run_into(plan, product, out) ? out : at::Tensor();
}

at::Tensor run_known_on_gpu(const Plan& plan, std::uint32_t note,
                            Product product, Call call) {
  const CurrentDevice device(call.device);
  if ((note & kOnAddresses) == 0) {
    return run_plan(plan, product);
  }
  KnownRun run(plan, note, product, call);
  return succeeded(run.status, product) ? std::move(run.out) : at::Tensor();
}

at::Tensor run_new(Product product) {
  const CurrentDevice device(product.mat1.device());
  const Plan* const plan = decide(product);
  return plan == nullptr ? at::Tensor() : run_plan(*plan, product);
}

bool run_new_out(Product product) {
  const at::Tensor& out = *product.out;
  const CurrentDevice device(product.mat1.device());
  const Plan* const plan = decide(product);
  if (plan == nullptr) {
    return false;
  }
  if (plan->takes_tensors()) {
    const at::Tensor result = run_aten_plan(*plan, product);
    if (result.defined()) {
      out.copy_(result);
    }
    return result.defined();
  }
  write_addend(product, out);
  return run_into(*plan, product, out);
}

}  // namespace tunedops
