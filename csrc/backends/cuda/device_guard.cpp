#include "backends/cuda/device_guard.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/check.h"

namespace tunedops::cuda {
namespace {

// The runtime has no such question; the driver does, and the runtime knows
// where.
using GetState = int (*)(int device, unsigned* flags, int* active);

GetState find_get_state() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  constexpr unsigned kSince = 7000;  // the CUDA version that brought it
  if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &function,
                                       kSince, cudaEnableDefault,
                                       &result) != cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    ignore(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<GetState>(function);
}

bool has_context(int device) {
  static const GetState get_state = find_get_state();
  unsigned flags = 0;
  int active = 0;
  return get_state == nullptr ||
         (get_state(device, &flags, &active) == 0 && active != 0);
}

}  // namespace

DeviceGuard::DeviceGuard(int index) {
  TUNEDOPS_CUDA_CHECK(cudaGetDevice(&before_));
  if (before_ != index) {
    TUNEDOPS_CUDA_CHECK(cudaSetDevice(index));
    changed_ = true;
  }
}

DeviceGuard::~DeviceGuard() {
  if (changed_ && has_context(before_)) {
    ignore(cudaSetDevice(before_));
  }
}

}  // namespace tunedops::cuda
