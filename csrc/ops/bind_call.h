#pragma once

// A call that is bound: its arguments are checked and its problem is worked out
// as if it ran, and it does not run. Its operands may describe tensors that are
// nowhere, so nothing here reads them or goes through torch's dispatcher.

#include <ATen/core/Tensor.h>

#include <string>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops {

struct CallToBind {
  std::string op;           // as aten has it: mm, addmm, addmv, linear, …
  bool is_checked = false;  // by us, as torch.ops.tunedops checks its arguments
  at::Tensor self;          // addend or bias; undefined where there is none
  at::Tensor mat1;          // or what stands there: input, batch1, mat
  at::Tensor mat2;          // weight, batch2, vec
  at::Tensor out;           // undefined: a fresh one
  bool in_place = false;    // out is self, as in addmm_
  at::Scalar beta = 1;
  at::Scalar alpha = 1;
  std::string activation = "none";  // linear's
  bool use_gelu = false;            // _addmm_activation's
  at::ScalarType out_dtype = at::ScalarType::Undefined;
};

/// Writes the problem and returns null, or returns why only torch's original
/// can compute the call. Throws what the op would throw of its arguments, and
/// std::invalid_argument for an op that has no product.
const char* bind_call(const CallToBind& call, GemmProblem& problem);

/// A tensor of which everything is there but its memory.
at::Tensor described_tensor(at::IntArrayRef sizes, at::IntArrayRef strides,
                            at::ScalarType dtype, at::Device device,
                            int alignment, bool is_conjugated);

}  // namespace tunedops
