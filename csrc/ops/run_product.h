#pragma once

// From a product to the plan that computes it.

#include "ops/product.h"

namespace tunedops {

/// What came of a call that may have been met before.
struct Attempt {
  bool is_known = false;
  at::Tensor out;  // undefined: torch's original is to run
};

/// Runs the plan of a call that this thread has met before, which then needs no
/// check of its operands either: the product has its dimensions, and no more is
/// asked of it.
Attempt run_known(const Product& product, at::IntArrayRef sizes);

/// Decides on a plan for a call that is not known; the product is sound.
at::Tensor run_new(const Product& product, at::IntArrayRef sizes);

/// Either of them: the product, which is sound, as a fresh contiguous tensor of
/// `sizes` (a product of more than one row may be asked for in more
/// dimensions), or an undefined tensor if torch's original is to run.
at::Tensor run_tuned(const Product& product, at::IntArrayRef sizes);

/// The same into `out`; false, with `out` as it was, if the original is to run.
bool run_tuned_out(const Product& product, const at::Tensor& out);

}  // namespace tunedops
