#include "kernels/gemm/cuda/sm90_product.h"

namespace tunedops::cuda {
namespace {

// Its size of shared memory says for what it was compiled.
constexpr std::size_t kWithHopper = 64;

__global__ void probe() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ volatile char has_it[kWithHopper];
  has_it[threadIdx.x % kWithHopper] = 0;
#endif
}

}  // namespace

bool sm90_is_compiled() {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, probe) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.sharedSizeBytes >= kWithHopper;
}

}  // namespace tunedops::cuda
