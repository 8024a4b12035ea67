#pragma once

// What of a problem no operand tells: the device, the threads of the pool and
// torch's precision flags, as they are now.

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "tuning/problem_key.h"

namespace tunedops {

/// The header of a problem whose operands are of that type.
ProblemHeader call_state(c10::Device device, c10::ScalarType dtype);

}  // namespace tunedops
