#include "kernels/gemm/cuda/register_cuda.h"

#include "kernels/gemm/cuda/gemm_cublas.h"
#include "kernels/gemm/cuda/gemm_cublaslt.h"
#include "kernels/gemm/cuda/gemm_skinny.h"
#include "kernels/gemm/cuda/gemm_sm80.h"
#include "kernels/gemm/cuda/gemm_sm90.h"
#include "kernels/gemm/gemm_problem.h"

namespace tunedops {

void register_cuda_gemm_kernels(KernelRegistry& registry) {
  registry.register_kernel<GemmSkinny>(kGemmOp);
  registry.register_kernel<GemmSm90>(kGemmOp);
  registry.register_kernel<GemmSm80>(kGemmOp);
  registry.register_kernel<GemmCublas>(kGemmOp);
  registry.register_kernel<GemmCublaslt>(kGemmOp);
}

}  // namespace tunedops
