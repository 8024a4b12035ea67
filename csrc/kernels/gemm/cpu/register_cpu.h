#pragma once

// The hand-written CPU kernels for matrix products, one line each.

#include "tuning/kernel_registry.h"

namespace tunedops {

void register_cpu_gemm_kernels(KernelRegistry& registry);

}  // namespace tunedops
