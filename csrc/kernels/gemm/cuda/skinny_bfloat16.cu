#include "kernels/gemm/cuda/skinny_kernel.cuh"

namespace tunedops::cuda {

cudaError_t run_skinny_bfloat16(const SkinnyProduct& product,
                                const SkinnyLaunch& launch) {
  return run_skinny<__nv_bfloat16>(product, launch);
}

}  // namespace tunedops::cuda
