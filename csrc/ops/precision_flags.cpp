#include "ops/precision_flags.h"

#include <ATen/Context.h>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops {
namespace {

// Read through float32Precision: allowTF32CuBLAS throws once a program has used
// the newer switches.
std::uint16_t float32_flags(at::Context& context, c10::DeviceType device) {
  const bool cuda = device == c10::DeviceType::CUDA;
  switch (context.float32Precision(cuda ? at::Float32Backend::CUDA
                                        : at::Float32Backend::MKLDNN,
                                   at::Float32Op::MATMUL)) {
  case at::Float32Precision::TF32:
    return kAllowTf32;
  case at::Float32Precision::BF16:
    return cuda ? 0 : kAllowBf16;
  default:
    return 0;
  }
}

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

std::uint16_t reduction_flags(at::Context& context, c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Half) {
    return static_cast<std::uint16_t>(
        reduction_flag(context.allowFP16ReductionCuBLAS()) |
        (context.allowFP16AccumulationCuBLAS() ? kFp16Accumulation : 0));
  }
  return dtype == c10::ScalarType::BFloat16
             ? reduction_flag(context.allowBF16ReductionCuBLAS())
             : 0;
}

}  // namespace

std::uint16_t precision_flags(c10::DeviceType device, c10::ScalarType dtype) {
  at::Context& context = at::globalContext();
  std::uint16_t flags = context.deterministicAlgorithms() ? kDeterministic : 0;
  if (dtype == c10::ScalarType::Float) {
    flags |= float32_flags(context, device);
  }
  if (device == c10::DeviceType::CUDA) {
    flags |= reduction_flags(context, dtype);
  } else if (!context.userEnabledMkldnn()) {
    flags |= kOneDnnDisabled;
  }
  return flags;
}

}  // namespace tunedops
