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

namespace gpu_stream {

Stream current_stream(const at::Tensor& tensor) {
  return {c10::cuda::getCurrentCUDAStream(tensor.get_device()).stream()};
}

int make_current(c10::Device device) {
  const c10::DeviceIndex index = device.index();
  const auto before = c10::cuda::ExchangeDevice(index);
  return before == index ? -1 : before;
}

// Not if that would create a context on a device that the program does not use.
void restore(int device) {
  try {
    c10::cuda::MaybeSetDevice(static_cast<c10::DeviceIndex>(device));
  } catch (const std::exception&) {
    // The context is lost, and whatever is thrown above says so.
  }
}

}  // namespace gpu_stream

Status run_with_scratch(const Plan& plan, Arguments& arguments,
                        const at::Tensor& out, Stream stream) {
  const std::size_t bytes = plan.workspace_bytes();
  const std::size_t counters = plan.counter_count();
  const auto device = static_cast<int>(out.get_device());
  at::Tensor block;  // of torch's allocator, which the graph keeps
  if (c10::cuda::currentStreamCaptureStatusMayInitCtx() !=
      c10::cuda::CaptureStatus::None) {
    block = at::empty({static_cast<std::int64_t>(bytes)},
                      out.options().dtype(at::kByte));
    arguments.workspace = block.mutable_data_ptr();
    arguments.counters =
        counters == 0 ? nullptr : cuda::captured_counters(device, counters);
  } else {
    const cuda::Scratch scratch = cuda::eager_scratch(
        device, static_cast<cudaStream_t>(stream.handle), bytes);
    arguments.workspace = scratch.workspace;
    arguments.counters = scratch.counters;
  }
  if ((bytes > 0 && arguments.workspace == nullptr) ||
      (counters > 0 && arguments.counters == nullptr)) {
    return Status::failed("there is no memory for its workspace");
  }
  return status_of([&] { return plan.run(arguments, stream); });
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

namespace gpu_stream {

Stream current_stream(const at::Tensor&) { return {}; }
int make_current(c10::Device) { return -1; }
void restore(int) {}

}  // namespace gpu_stream

Status run_with_scratch(const Plan&, Arguments&, const at::Tensor&, Stream) {
  return Status::unsupported("scratch memory is a GPU's");
}

void with_stream(const ProblemHeader&, Stream, c10::function_ref<void()> body) {
  body();
}

#endif

}  // namespace tunedops
