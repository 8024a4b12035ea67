#pragma once

// The kernels for matrix products on NVIDIA GPUs, one line each.

#include "tuning/kernel_registry.h"

namespace tunedops {

void register_cuda_gemm_kernels(KernelRegistry& registry);

}  // namespace tunedops
