#pragma once

// The current stream of a tensor's device, its workspace, and the guards that
// torch's own kernels need around them. On the CPU there is none of this.

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include "tuning/device.h"
#include "tuning/plan.h"
#include "tuning/problem_key.h"

namespace tunedops {

namespace gpu_stream {

Stream current_stream(const at::Tensor& tensor);

/// What was current, or -1 if that device was.
int make_current(c10::Device device);
void restore(int device);

}  // namespace gpu_stream

inline Stream current_stream(const at::Tensor& tensor) {
  return tensor.is_cpu() ? Stream{} : gpu_stream::current_stream(tensor);
}

/// Makes a device the current one.
class CurrentDevice {
 public:
  explicit CurrentDevice(c10::Device device)
      : before_(device.is_cpu() ? -1 : gpu_stream::make_current(device)) {}
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    if (before_ >= 0) {
      gpu_stream::restore(before_);
    }
  }

 private:
  int before_;
};

/// Runs a plan that needs workspace or counters. They belong to the thread and
/// the stream or, while a graph is being captured, to the graph.
Status run_with_scratch(const Plan& plan, Arguments& arguments,
                        const at::Tensor& out, Stream stream);

/// Runs `body` with `stream` as torch's current one on the problem's device.
void with_stream(const ProblemHeader& header, Stream stream,
                 c10::function_ref<void()> body);

}  // namespace tunedops
