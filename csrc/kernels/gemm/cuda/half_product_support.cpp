#include "kernels/gemm/cuda/half_product_support.h"

#include <algorithm>

#include "kernels/gemm/cuda/operand_support.h"

namespace tunedops::cuda {

Status supports_half_product(const GemmProblem& p) {
  if (p.a_dtype != DType::kBFloat16 && p.a_dtype != DType::kFloat16) {
    return Status::unsupported("the type is not BFloat16 or Half");
  }
  if (Status operands = supports_operands(p); !operands.is_ok()) {
    return operands;
  }
  if (std::max({p.m, p.n, p.k, p.batch}) >= kMostHalfLength) {
    return Status::unsupported("a side is longer than 2^30");
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
