#include "kernels/gemm/cuda/skinny_kernel.cuh"

namespace tunedops::cuda {

cudaError_t run_skinny_float16(const SkinnyProduct& product,
                               const SkinnyLaunch& launch) {
  return run_skinny<__half>(product, launch);
}

}  // namespace tunedops::cuda
