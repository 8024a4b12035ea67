#include "ops/device_stream.h"

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#ifdef TUNEDOPS_USE_CUDA
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "backends/cuda/captured_counters.h"
#include "backends/cuda/workspace.h"
#endif

namespace tunedops {

#ifdef TUNEDOPS_USE_CUDA

Stream current_stream(const at::Tensor& tensor) {
  return tensor.is_cuda()
             ? Stream{c10::cuda::getCurrentCUDAStream(tensor.get_device())
                          .stream()}
             : Stream{};
}

CurrentDevice::CurrentDevice(const at::Tensor& tensor) {
  if (tensor.is_cuda()) {
    const auto index = tensor.get_device();
    const auto before =
        c10::cuda::ExchangeDevice(static_cast<c10::DeviceIndex>(index));
    before_ = before == index ? -1 : before;
  }
}

// Not if that would create a context on a device that the program does not use.
CurrentDevice::~CurrentDevice() {
  if (before_ < 0) {
    return;
  }
  try {
    c10::cuda::MaybeSetDevice(static_cast<c10::DeviceIndex>(before_));
  } catch (const std::exception&) {
    // The context is lost, and whatever is thrown above says so.
  }
}

Workspace::Workspace(const Plan& plan, const at::Tensor& tensor, Stream stream)
    : bytes_(plan.workspace_bytes()), counter_count_(plan.counter_count()) {
  if (bytes_ == 0 && counter_count_ == 0) {
    return;
  }
  const auto device = static_cast<int>(tensor.get_device());
  if (c10::cuda::currentStreamCaptureStatusMayInitCtx() !=
      c10::cuda::CaptureStatus::None) {
    block_ = at::empty({static_cast<std::int64_t>(bytes_)},
                       tensor.options().dtype(at::kByte));
    data_ = block_.mutable_data_ptr();
    counters_ = counter_count_ == 0
                    ? nullptr
                    : cuda::captured_counters(device, counter_count_);
    return;
  }
  const cuda::Scratch scratch = cuda::eager_scratch(
      device, static_cast<cudaStream_t>(stream.handle), bytes_);
  data_ = scratch.workspace;
  counters_ = scratch.counters;
}

void with_stream(const ProblemHeader& header, Stream stream,
                 c10::function_ref<void()> body) {
  if (header.device_type != DeviceType::kCuda) {
    body();
    return;
  }
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(
      static_cast<cudaStream_t>(stream.handle),
      static_cast<c10::DeviceIndex>(header.device_index)));
  body();
}

#else

Stream current_stream(const at::Tensor&) { return {}; }

CurrentDevice::CurrentDevice(const at::Tensor&) {}
CurrentDevice::~CurrentDevice() = default;

Workspace::Workspace(const Plan& plan, const at::Tensor&, Stream)
    : bytes_(plan.workspace_bytes()), counter_count_(plan.counter_count()) {}

void with_stream(const ProblemHeader&, Stream, c10::function_ref<void()> body) {
  body();
}

#endif

}  // namespace tunedops
