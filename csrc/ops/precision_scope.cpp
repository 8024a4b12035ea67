#include "ops/precision_scope.h"

#include <ATen/Context.h>

#include "ops/dtype_map.h"
#include "ops/precision_flags.h"

namespace tunedops {
namespace {

bool allows_reduced_precision(at::CuBLASReductionOption option) {
  return option == at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
}

bool allows_split_k(at::CuBLASReductionOption option) {
  return option !=
         at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK;
}

}  // namespace

PrecisionScope::PrecisionScope(const GemmProblem& problem) {
  const DeviceType device = problem.header.device_type;
  const bool cuda = device == DeviceType::kCuda;
  const std::uint16_t wanted = problem.header.precision;
  const std::uint16_t differing =
      wanted ^
      precision_flags(cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU,
                      scalar_type_of(problem.a_dtype));
  if ((differing & kDeterministic) != 0) {
    set_determinism((wanted & kDeterministic) != 0);
  }
  if (problem.a_dtype == DType::kFloat32 &&
      (differing & (kAllowTf32 | kAllowBf16)) != 0) {
    set_float32_precision(device, wanted);
  }
  if (cuda && (differing & (kFullPrecisionReduction | kNoSplitK)) != 0) {
    set_reduction(problem.a_dtype, wanted);
  }
  if (cuda && (differing & kFp16Accumulation) != 0) {
    set_fp16_accumulation((wanted & kFp16Accumulation) != 0);
  }
  if (!cuda && (differing & kOneDnnDisabled) != 0) {
    set_onednn((wanted & kOneDnnDisabled) == 0);
  }
}

PrecisionScope::~PrecisionScope() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    (*undo)();
  }
}

// Where torch cannot be deterministic (cuBLAS without the variable that it
// wants) it warns and multiplies, instead of refusing.
void PrecisionScope::set_determinism(bool value) {
  at::Context& context = at::globalContext();
  undo_.push_back([&context, before = context.deterministicAlgorithms(),
                   warn_only = context.deterministicAlgorithmsWarnOnly()] {
    context.setDeterministicAlgorithms(before, warn_only);
  });
  context.setDeterministicAlgorithms(value, /*warn_only=*/true);
}

void PrecisionScope::set_float32_precision(DeviceType device,
                                           std::uint16_t flags) {
  at::Context& context = at::globalContext();
  const auto backend = device == DeviceType::kCuda ? at::Float32Backend::CUDA
                                                   : at::Float32Backend::MKLDNN;
  const auto op = at::Float32Op::MATMUL;
  undo_.push_back(
      [&context, backend, op, before = context.float32Precision(backend, op)] {
        // Whether it was set here or for all ops cannot be asked.
        context.setFloat32Precision(backend, op, at::Float32Precision::NONE);
        if (context.float32Precision(backend, op) != before) {
          context.setFloat32Precision(backend, op, before);
        }
      });
  context.setFloat32Precision(
      backend, op,
      (flags & kAllowTf32) != 0   ? at::Float32Precision::TF32
      : (flags & kAllowBf16) != 0 ? at::Float32Precision::BF16
                                  : at::Float32Precision::IEEE);
}

void PrecisionScope::set_reduction(DType dtype, std::uint16_t flags) {
  at::Context& context = at::globalContext();
  const bool split_k = (flags & kNoSplitK) == 0;
  const bool reduced = split_k && (flags & kFullPrecisionReduction) == 0;
  if (dtype == DType::kFloat16) {
    undo_.push_back([&context, before = context.allowFP16ReductionCuBLAS()] {
      context.setAllowFP16ReductionCuBLAS(allows_reduced_precision(before),
                                          allows_split_k(before));
    });
    context.setAllowFP16ReductionCuBLAS(reduced, split_k);
  } else if (dtype == DType::kBFloat16) {
    undo_.push_back([&context, before = context.allowBF16ReductionCuBLAS()] {
      context.setAllowBF16ReductionCuBLAS(allows_reduced_precision(before),
                                          allows_split_k(before));
    });
    context.setAllowBF16ReductionCuBLAS(reduced, split_k);
  }
}

void PrecisionScope::set_fp16_accumulation(bool value) {
  at::Context& context = at::globalContext();
  undo_.push_back([&context, before = context.allowFP16AccumulationCuBLAS()] {
    context.setAllowFP16AccumulationCuBLAS(before);
  });
  context.setAllowFP16AccumulationCuBLAS(value);
}

void PrecisionScope::set_onednn(bool enabled) {
  at::Context& context = at::globalContext();
  undo_.push_back([&context, before = context.userEnabledMkldnn()] {
    context.setUserEnabledMkldnn(before);
  });
  context.setUserEnabledMkldnn(enabled);
}

}  // namespace tunedops
