#pragma once

// A product by the chosen plan or, where there is none, as torch computes it.
// These few lines are what a call pays for, so they are inlined into every op.

#include "ops/known_call.h"

namespace tunedops {

/// For products whose operands torch's original complains about.
inline constexpr auto no_check = [] {};

/// A fresh tensor. `check` throws if the operands make no product and somebody
/// wants to hear that from us; it is not asked about a call that was met
/// before.
template <class Check, class Original>
[[gnu::always_inline]] inline at::Tensor
tuned_or(const Product& given, const Check& check, const Original& original) {
  // What is given away below has an address; what a hit reads has none, so that
  // the compiler sees through it.
  const Product product = given;
  const TuningContext& context = current_context();
  ThreadState& thread = ThreadState::current();
  if (!context.is_active(thread)) [[unlikely]] {
    check();
    return original();
  }
  CallKey key;
  Call call;
  if (const std::size_t words = read_call<shapes_of>(product, key, call);
      words != 0) [[likely]] {
    if (const auto* known = context.known(key, words, thread)) [[likely]] {
      if (known->plan == nullptr) [[unlikely]] {
        return original();
      }
      if (!call.device.is_cpu()) {
        at::Tensor out =
            run_known_on_gpu(*known->plan, known->note, given, call);
        return out.defined() ? std::move(out) : original();
      }
      if ((known->note & kOnAddresses) == 0) [[unlikely]] {
        at::Tensor out = run_plan(*known->plan, given);
        return out.defined() ? std::move(out) : original();
      }
      KnownRun run(*known->plan, known->note, product, call);
      if (run.status.is_ok()) [[likely]] {
        return std::move(run.out);
      }
      report_failed_run(run.status, given);
      return original();
    }
  }
  check();
  at::Tensor out = run_new(given);
  return out.defined() ? out : original();
}

/// Into the product's own output.
template <class Check, class Original>
[[gnu::always_inline]] inline at::Tensor&
tuned_out_or(const Product& given, at::Tensor& out, const Check& check,
             const Original& original) {
  // What is given away below has an address; what a hit reads has none, so that
  // the compiler sees through it.
  const Product product = given;
  const TuningContext& context = current_context();
  ThreadState& thread = ThreadState::current();
  if (!context.is_active(thread)) [[unlikely]] {
    check();
    return original();
  }
  CallKey key;
  Call call;
  if (const std::size_t words = read_call<shapes_of>(product, key, call);
      words != 0) [[likely]] {
    if (const auto* known = context.known(key, words, thread)) {
      if (known->plan == nullptr) [[unlikely]] {
        return original();
      }
      if ((known->note & kOnAddresses) != 0 && !overlaps_input(product, out)) {
        const Status status =
            run_known_out(*known->plan, known->note, product, call);
        if (status.is_ok()) [[likely]] {
          return out;
        }
        report_failed_run(status, given);
        return original();
      }
    }
  }
  check();
  if (run_new_out(given)) {
    return out;
  }
  return original();
}

}  // namespace tunedops
