#include "kernels/gemm/cuda/sm90_kernel.cuh"

namespace tunedops::cuda {

cudaError_t prepare_sm90_bfloat16(const Sm90Launch& launch) {
  return prepare_sm90<__nv_bfloat16>(launch);
}

cudaError_t run_sm90_bfloat16(const Sm90Product& product,
                              const Sm90Launch& launch) {
  return run_sm90<__nv_bfloat16>(product, launch);
}

}  // namespace tunedops::cuda
