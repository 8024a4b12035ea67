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

std::uint16_t reduction_flags(at::Context& context, c10::ScalarType dtype) {
  const auto allowed =
      at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  if (dtype == c10::ScalarType::Half) {
    return static_cast<std::uint16_t>(
        (context.allowFP16ReductionCuBLAS() == allowed
             ? 0
             : kFullPrecisionReduction) |
        (context.allowFP16AccumulationCuBLAS() ? kFp16Accumulation : 0));
  }
  if (dtype == c10::ScalarType::BFloat16) {
    return context.allowBF16ReductionCuBLAS() == allowed
               ? 0
               : kFullPrecisionReduction;
  }
  return 0;
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
