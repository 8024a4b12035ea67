#include "backends/cuda/cuda_backend.h"

#include <cublasLt.h>

#include <algorithm>
#include <string>

#include "backends/cuda/check.h"
#include "backends/cuda/cuda_operand_memory.h"
#include "backends/cuda/cuda_stopwatch.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "backends/cuda/graph_stopwatch.h"
#include "backends/cuda/tuning_scope.h"
#include "kernels/revision.h"

namespace tunedops::cuda {
namespace {

cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

std::string cublas_version() {
  std::string text;
  for (const libraryPropertyType part :
       {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = 0;
    TUNEDOPS_CUDA_CHECK(cublasGetProperty(part, &value));
    text += (text.empty() ? "" : ".") + std::to_string(value);
  }
  return text;
}

}  // namespace

std::string CudaBackend::device_name(Device device) const {
  return device_facts(device.index).name;
}

std::string CudaBackend::file_tag(Device device) const {
  return std::to_string(device.index);
}

Validators CudaBackend::validators(Device device) const {
  const DeviceFacts& facts = device_facts(device.index);
  Validators validators;
  validators.add("TUNEDOPS_KERNELS", std::to_string(kKernelsRevision));
  validators.add("CUBLAS_VERSION", cublas_version());
  validators.add("CUBLASLT_VERSION", std::to_string(cublasLtGetVersion()));
  validators.add("DEVICE", std::to_string(facts.major) + '.' +
                               std::to_string(facts.minor) + ':' + facts.name +
                               ':' + std::to_string(facts.multiprocessors));
  return validators;
}

// Twice the cache: its replacement is not quite least-recently-used.
std::size_t CudaBackend::cache_bytes(Device device) const {
  return 2 * device_facts(device.index).l2_bytes;
}

std::size_t CudaBackend::tuning_memory_bytes(Device device) const {
  const DeviceGuard guard(device.index);
  std::size_t free = 0;
  std::size_t total = 0;
  return to_status(cudaMemGetInfo(&free, &total), "cudaMemGetInfo").is_ok()
             ? free / 4
             : 0;
}

DeviceMemory CudaBackend::allocate(Device device, std::size_t bytes) const {
  const DeviceGuard guard(device.index);
  void* memory = nullptr;
  if (!to_status(cudaMalloc(&memory, bytes), "cudaMalloc").is_ok()) {
    return nullptr;
  }
  return {memory, [](void* p) { ignore(cudaFree(p)); }};
}

std::unique_ptr<OperandMemory>
CudaBackend::make_operand_memory(Device device, Stream stream) const {
  DeviceMemory scratch = allocate(device, CudaOperandMemory::scratch_bytes());
  return scratch == nullptr ? nullptr
                            : std::make_unique<CudaOperandMemory>(
                                  native(stream), std::move(scratch));
}

std::unique_ptr<Stopwatch> CudaBackend::make_stopwatch(Device device,
                                                       Stream stream,
                                                       bool in_graphs) const {
  const int multiprocessors = device_facts(device.index).multiprocessors;
  if (in_graphs) {
    return std::make_unique<GraphStopwatch>(multiprocessors, native(stream));
  }
  return std::make_unique<CudaStopwatch>(multiprocessors, native(stream));
}

Status CudaBackend::may_tune(Device device, Stream stream) const {
  const DeviceGuard guard(device.index);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  TUNEDOPS_CUDA_RETURN(cudaStreamIsCapturing(native(stream), &status));
  return status == cudaStreamCaptureStatusNone
             ? Status::ok()
             : Status::unsupported("the stream is being captured");
}

std::unique_ptr<TuningScope> CudaBackend::enter_tuning(Device device,
                                                       Stream stream) const {
  return std::make_unique<CudaTuningScope>(device, stream);
}

}  // namespace tunedops::cuda
