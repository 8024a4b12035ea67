#include "kernels/gemm/cuda/operand_support.h"

namespace tunedops::cuda {
namespace {

// Elements are loaded whole.
bool are_elements_aligned(const GemmProblem& p) {
  return p.align_a >= size_of(p.a_dtype) && p.align_b >= size_of(p.b_dtype) &&
         p.align_out >= size_of(p.out_dtype) &&
         (!p.has_bias() || p.align_bias >= size_of(p.bias_dtype));
}

}  // namespace

Status supports_operands(const GemmProblem& p) {
  if (p.b_dtype != p.a_dtype ||
      (p.out_dtype != p.a_dtype && p.out_dtype != DType::kFloat32)) {
    return Status::unsupported(
        "a and b are not of one type, or out is neither of it nor float");
  }
  if (p.has_bias() && p.bias_dtype != p.a_dtype &&
      p.bias_dtype != DType::kFloat32) {
    return Status::unsupported("the bias is neither of a's type nor float");
  }
  if (p.conjugate_a || p.conjugate_b) {
    return Status::unsupported("conjugated operands are not supported");
  }
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) {
    return Status::unsupported("the product is empty");
  }
  if (!are_elements_aligned(p)) {
    return Status::unsupported("an operand is not aligned to its elements");
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
