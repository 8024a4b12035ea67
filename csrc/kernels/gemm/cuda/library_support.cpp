#include "kernels/gemm/cuda/library_support.h"

namespace tunedops::cuda {

Status library_supports(const GemmProblem& p) {
  if (p.a_dtype != DType::kFloat32 && p.a_dtype != DType::kFloat64 &&
      p.a_dtype != DType::kBFloat16 && p.a_dtype != DType::kFloat16) {
    return Status::unsupported("real types only");
  }
  const bool widens = p.out_dtype == DType::kFloat32 && size_of(p.a_dtype) == 2;
  if (p.b_dtype != p.a_dtype || (p.out_dtype != p.a_dtype && !widens)) {
    return Status::unsupported(
        "one type for all operands, or float out of 16 bits");
  }
  if (p.conjugate_a || p.conjugate_b) {
    return Status::unsupported("no conjugated operands");
  }
  if (p.batch > std::int64_t{1} << 30) {
    return Status::unsupported("too large a batch");
  }
  return Status::ok();
}

Status cublaslt_supports(const GemmProblem& p) {
  if (p.activation == Activation::kGelu) {
    return Status::unsupported("its gelu is the one with tanh");
  }
  if (p.has_bias() && p.batched) {
    return Status::unsupported("no bias for batches");
  }
  // Else the library reads it as if it were.
  if (p.has_bias() && p.bias_dtype != p.out_dtype) {
    return Status::unsupported("the bias is not of the output's type");
  }
  if (p.has_bias() && p.align_bias < 16) {
    return Status::unsupported("wants a bias that is aligned to 16 bytes");
  }
  return library_supports(p);
}

}  // namespace tunedops::cuda
