#include "kernels/gemm/cuda/half_product_support.h"

#include <algorithm>

namespace tunedops::cuda {
namespace {

bool is_aligned_to_elements(const GemmProblem& p) {
  return p.align_a >= size_of(p.a_dtype) && p.align_b >= size_of(p.b_dtype) &&
         p.align_out >= size_of(p.out_dtype) &&
         (!p.has_bias() || p.align_bias >= size_of(p.bias_dtype));
}

Status supports_types(const GemmProblem& p) {
  if (p.a_dtype != DType::kBFloat16 && p.a_dtype != DType::kFloat16) {
    return Status::unsupported("the type is not BFloat16 or Half");
  }
  if (p.b_dtype != p.a_dtype ||
      (p.out_dtype != p.a_dtype && p.out_dtype != DType::kFloat32)) {
    return Status::unsupported(
        "a and b are not of one type, or out is neither of it nor float");
  }
  if (p.has_bias() && p.bias_dtype != p.a_dtype &&
      p.bias_dtype != DType::kFloat32) {
    return Status::unsupported("the bias is neither of a's type nor float");
  }
  if (!is_aligned_to_elements(p)) {
    return Status::unsupported("an operand is not aligned to its elements");
  }
  return Status::ok();
}

}  // namespace

Status supports_half_product(const GemmProblem& p) {
  if (Status types = supports_types(p); !types.is_ok()) {
    return types;
  }
  if (p.conjugate_a || p.conjugate_b) {
    return Status::unsupported("conjugated operands are not supported");
  }
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) {
    return Status::unsupported("the product is empty");
  }
  if (std::max({p.m, p.n, p.k, p.batch}) >= kMostHalfLength) {
    return Status::unsupported("a side is longer than 2^30");
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
