#pragma once

// What is remembered of a call, and how it runs when it comes again: no look at
// the operands but what `read_call` needs, and no problem.

#include <array>

#include "ops/call.h"
#include "ops/context.h"
#include "ops/device_stream.h"
#include "ops/run_product.h"

namespace tunedops {

/// Bits of the note beside a remembered call.
enum CallNote : std::uint32_t {
  kOnAddresses = 1,   // the plan reads all operands where they lie
  kSwapped = 2,       // the output is row-major: mat2 is BLAS's first operand
  kNeedsScratch = 4,  // workspace or counters
};

/// The plan on the call's own addresses.
[[gnu::always_inline]] inline Status
run_on_addresses(const Plan& plan, std::uint32_t note, const Product& product,
                 const Call& call, const at::Tensor& out, void* out_address) {
  const bool swapped = (note & kSwapped) != 0;
  Arguments arguments;
  arguments.operands[kGemmA] = swapped ? call.mat2 : call.mat1;
  arguments.operands[kGemmB] = swapped ? call.mat1 : call.mat2;
  arguments.operands[kGemmOut] = out_address;
  arguments.operands[kGemmBias] = call.bias;
  if (product.alpha != nullptr) {
    arguments.alpha = product.alpha->toDouble();
    arguments.beta = product.beta == nullptr ? 0 : product.beta->toDouble();
  }
  const Stream stream = call.device.is_cpu() ? Stream{} : current_stream(out);
  if ((note & kNeedsScratch) == 0) [[likely]] {
    return status_of([&] { return plan.run(arguments, stream); });
  }
  return run_with_scratch(plan, arguments, out, stream);
}

/// A run of a remembered plan on addresses, into a fresh tensor.
struct KnownRun {
  at::Tensor out;
  Status status;

  [[gnu::always_inline]] KnownRun(const Plan& plan, std::uint32_t note,
                                  const Product& product, const Call& call)
      : out(prepared_output(product, call)),
        status(run_on_addresses(plan, note, product, call, out,
                                address_of_fresh(out))) {}
  [[gnu::always_inline]] ~KnownRun() {}  // NOLINT: it is for the attribute

 private:
  [[gnu::always_inline]] static at::Tensor
  prepared_output(const Product& product, const Call& call) {
    const std::array own_sizes{call.batch, call.rows, call.columns};
    const std::size_t first = product.dims == 3 ? 0 : 1;
    at::Tensor out =
        empty_output(call.device, call.out_dtype,
                     product.sizes.empty()
                         ? at::IntArrayRef(own_sizes.data() + first, 3 - first)
                         : product.sizes);
    if (product.addend != nullptr) {
      write_addend(product, out);
    }
    return out;
  }

  // It begins where its storage does, and nobody else has it yet.
  static void* address_of_fresh(const at::Tensor& tensor) {
    return tensor.unsafeGetTensorImpl()
        ->unsafe_storage()
        .unsafeGetStorageImpl()
        ->_mutable_data_ptr_no_checks()
        .get();
  }
};

/// The same into the product's own output.
inline Status run_known_out(const Plan& plan, std::uint32_t note,
                            const Product& product, const Call& call) {
  const CurrentDevice device(call.device);
  if (product.addend != nullptr) {
    write_addend(product, *product.out);
  }
  // Not the address that was read: this one may be written to (copy-on-write).
  return run_on_addresses(plan, note, product, call, *product.out,
                          product.out->mutable_data_ptr());
}

/// A remembered plan on a GPU, whatever its operands need; undefined, and said,
/// if it could not run. (On a CPU a call is inlined: there its time counts.)
at::Tensor run_known_on_gpu(const Plan& plan, std::uint32_t note,
                            Product product, Call call);

}  // namespace tunedops
