#include "kernels/gemm/cuda/skinny_product.h"

namespace tunedops::cuda {
namespace {

// Compiled for the same architectures as the kernels themselves.
__global__ void probe() {}

}  // namespace

bool skinny_knows_clusters() {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, probe) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.ptxVersion >= 90;
}

}  // namespace tunedops::cuda
