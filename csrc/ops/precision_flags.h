#pragma once

// Torch's switches that change what a product may compute, as bits of the key.

#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops {
namespace precision {

/// Bits for fp32 products. Torch looks them up in a hash table, which takes
/// longer than all else of a call.
std::uint16_t float32_flags(c10::DeviceType device);
/// Bits for 16-bit products on a GPU.
std::uint16_t reduction_flags(c10::ScalarType dtype);

}  // namespace precision

/// Bits of GemmPrecision in force now for products of this type.
inline std::uint16_t precision_flags(c10::DeviceType device,
                                     c10::ScalarType dtype) {
  const at::Context& context = at::globalContext();
  std::uint16_t flags = context.deterministicAlgorithms() ? kDeterministic : 0;
  if (dtype == c10::ScalarType::Float) {
    flags |= precision::float32_flags(device);
  }
  if (device != c10::DeviceType::CPU) {
    flags |= precision::reduction_flags(dtype);
  } else if (!context.userEnabledMkldnn()) {
    flags |= kOneDnnDisabled;
  }
  return flags;
}

}  // namespace tunedops
