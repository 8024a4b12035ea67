#pragma once

// The current stream of a tensor's device, its workspace, and the guards that
// torch's own kernels need around them. On the CPU there is none of this.

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include "tuning/device.h"
#include "tuning/plan.h"
#include "tuning/problem_key.h"

namespace tunedops {

Stream current_stream(const at::Tensor& tensor);

/// Makes the tensor's device the current one.
class CurrentDevice {
 public:
  explicit CurrentDevice(const at::Tensor& tensor);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  int before_ = -1;
};

/// Workspace and counters of a plan on a stream; holds a block of torch's
/// allocator while a graph is being captured, since the graph owns it then.
class Workspace {
 public:
  Workspace(const Plan& plan, const at::Tensor& tensor, Stream stream);

  /// False if there is not enough memory.
  bool is_there() const {
    return (bytes_ == 0 || data_ != nullptr) &&
           (counter_count_ == 0 || counters_ != nullptr);
  }
  void* data() const { return data_; }
  unsigned* counters() const { return counters_; }

 private:
  std::size_t bytes_;
  std::size_t counter_count_;
  void* data_ = nullptr;
  unsigned* counters_ = nullptr;
  at::Tensor block_;
};

/// Runs `body` with `stream` as torch's current one on the problem's device.
void with_stream(const ProblemHeader& header, Stream stream,
                 c10::function_ref<void()> body);

}  // namespace tunedops
