#pragma once

// What of a problem no operand tells: the device, the threads of the pool and
// torch's precision flags, as they are now.

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include "ops/precision_flags.h"
#include "tuning/problem_key.h"

namespace tunedops {

/// The header of a problem of `op` whose first operand is `tensor`.
inline ProblemHeader call_state(const at::Tensor& tensor, OpId op) {
  const c10::Device device = tensor.device();
  ProblemHeader header;
  header.op = op;
  if (device.is_cpu()) {
    header.device_type = DeviceType::kCpu;
    header.threads = static_cast<std::uint16_t>(
        at::in_parallel_region() ? 1 : at::get_num_threads());
  } else {
    header.device_type = DeviceType::kCuda;
    header.device_index = device.index();
  }
  header.precision = precision_flags(device.type(), tensor.scalar_type());
  return header;
}

}  // namespace tunedops
