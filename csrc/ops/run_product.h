#pragma once

// From a product to the plan that computes it.

#include "ops/product.h"

namespace tunedops {

/// The product as a fresh contiguous tensor of `sizes` (a product of more than
/// one row may be asked for in more dimensions), or an undefined tensor if
/// torch's original is to run.
at::Tensor run_tuned(const Product& product, at::IntArrayRef sizes);

/// The same into `out`; false, with `out` as it was, if the original is to run.
bool run_tuned_out(const Product& product, const at::Tensor& out);

}  // namespace tunedops
