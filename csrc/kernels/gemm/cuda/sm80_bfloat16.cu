#include "kernels/gemm/cuda/sm80_kernel.cuh"

namespace tunedops::cuda {

cudaError_t prepare_sm80_bfloat16(const Sm80Launch& launch) {
  return prepare_sm80<__nv_bfloat16>(launch);
}

cudaError_t run_sm80_bfloat16(const Sm80Product& product,
                              const Sm80Launch& launch) {
  return run_sm80<__nv_bfloat16>(product, launch);
}

}  // namespace tunedops::cuda
