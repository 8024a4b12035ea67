#include "ops/precision_flags.h"

namespace tunedops::precision {
namespace {

std::uint16_t reduction_flag(at::CuBLASReductionOption option) {
  switch (option) {
  case at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK:
    return 0;
  case at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK:
    return kFullPrecisionReduction;
  case at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK:
    return kFullPrecisionReduction | kNoSplitK;
  }
  return kFullPrecisionReduction | kNoSplitK;
}

}  // namespace

// Read through float32Precision: allowTF32CuBLAS throws once a program has used
// the newer switches.
std::uint16_t float32_flags(c10::DeviceType device) {
  const bool cuda = device == c10::DeviceType::CUDA;
  switch (at::globalContext().float32Precision(
      cuda ? at::Float32Backend::CUDA : at::Float32Backend::MKLDNN,
      at::Float32Op::MATMUL)) {
  case at::Float32Precision::TF32:
    return kAllowTf32;
  case at::Float32Precision::BF16:
    return cuda ? 0 : kAllowBf16;
  default:
    return 0;
  }
}

std::uint16_t reduction_flags(c10::ScalarType dtype) {
  const at::Context& context = at::globalContext();
  if (dtype == c10::ScalarType::Half) {
    return static_cast<std::uint16_t>(
        reduction_flag(context.allowFP16ReductionCuBLAS()) |
        (context.allowFP16AccumulationCuBLAS() ? kFp16Accumulation : 0));
  }
  return dtype == c10::ScalarType::BFloat16
             ? reduction_flag(context.allowBF16ReductionCuBLAS())
             : 0;
}

}  // namespace tunedops::precision
