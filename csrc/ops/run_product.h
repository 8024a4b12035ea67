#pragma once

// From a product to the plan that computes it, when its call is not known.

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#ifdef TUNEDOPS_USE_CUDA
#include <ATen/cuda/EmptyTensor.h>
#endif

#include "ops/product.h"
#include "tuning/plan.h"

namespace tunedops {

/// The problem that a product is or, where only torch's original can compute
/// it, why that is so. Who binds a call asks here, and so does who runs it; so
/// one key cannot be another's.
const char* problem_of(const Product& product, GemmProblem& problem);

/// The product as a fresh contiguous tensor, or an undefined one if torch's
/// original is to run.
at::Tensor run_new(Product product);

/// The same into the product's `out`; false if the original is to run, for
/// which nothing is lost that it reads.
bool run_new_out(Product product);

/// A plan on the operands as a product has them, whatever they need: copies, or
/// tensors instead of addresses. Undefined if it could not run.
at::Tensor run_plan(const Plan& plan, Product product);

/// Says (once) that Default runs since the plan could not. Throws if Default
/// would add to an output of which a part may be written.
void report_failed_run(const Status& status, Product product);

/// Writes the addend of a product that reads one into `out`, unless it is
/// there.
void write_addend(Product product, const at::Tensor& out);

/// An uninitialized tensor, past the dispatcher, which would take as long as a
/// small product.
[[gnu::always_inline]] inline at::Tensor
empty_output(c10::Device device, c10::ScalarType dtype, at::IntArrayRef sizes) {
  if (device.is_cpu()) {
    return at::detail::empty_cpu(sizes, dtype);
  }
#ifdef TUNEDOPS_USE_CUDA
  if (device.is_cuda()) {
    return at::detail::empty_cuda(sizes, dtype, device, std::nullopt);
  }
#endif
  return at::empty(sizes, at::TensorOptions().device(device).dtype(dtype));
}

/// For tensors of one storage: whether they share memory, or might, since
/// interleaved views count as sharing.
bool may_overlap(const at::Tensor& out, const at::Tensor& input);

[[gnu::always_inline]] inline bool overlaps(const at::Tensor& out,
                                            const at::Tensor& input) {
  return out.unsafeGetTensorImpl()->unsafe_storage().is_alias_of(
             input.unsafeGetTensorImpl()->unsafe_storage()) &&
         may_overlap(out, input);
}

/// Whether an output shares memory with what is read after it is written.
[[gnu::always_inline]] inline bool overlaps_input(const Product& product,
                                                  const at::Tensor& out) {
  return overlaps(out, product.mat1) || overlaps(out, product.mat2) ||
         (product.bias != nullptr && overlaps(out, *product.bias)) ||
         (product.copies_addend() && overlaps(out, *product.addend));
}

}  // namespace tunedops
