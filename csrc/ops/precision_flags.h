#pragma once

// Torch's switches that change what a product may compute, as bits of the key.

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace tunedops {

/// Bits of GemmPrecision in force now for products of this type.
std::uint16_t precision_flags(c10::DeviceType device, c10::ScalarType dtype);

}  // namespace tunedops
