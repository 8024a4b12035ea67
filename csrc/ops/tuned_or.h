#pragma once

// A product by the chosen plan or, where there is none, as torch computes it.

#include "ops/context.h"
#include "ops/run_product.h"

namespace tunedops {

/// `check` throws if the operands make no product and somebody wants to hear
/// that from us; it is not asked about a call that was met before.
template <class Check, class Original>
at::Tensor tuned_or(const Product& product, const Check& check,
                    const Original& original) {
  if (!getTuningContext().is_active()) {
    check();
    return original();
  }
  if (product.has_dims()) {
    Attempt attempt = run_known(product, ProductSizes(product));
    if (attempt.is_known) {
      return attempt.out.defined() ? std::move(attempt.out) : original();
    }
  }
  check();
  if (product.is_sound()) {
    if (at::Tensor out = run_new(product, ProductSizes(product));
        out.defined()) {
      return out;
    }
  }
  return original();
}

}  // namespace tunedops
