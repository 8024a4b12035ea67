#include "kernels/gemm/cpu/register_cpu.h"

#include "kernels/gemm/cpu/gemm_cpu_skinny.h"
#include "kernels/gemm/cpu/gemm_cpu_tiled.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops {

void register_cpu_gemm_kernels(KernelRegistry& registry) {
  registry.register_kernel<GemmCpuSkinny>(kGemmOp);
  registry.register_kernel<GemmCpuTiled>(kGemmOp);
}

}  // namespace tunedops
