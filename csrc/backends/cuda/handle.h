#pragma once

// Owners of CUDA objects: created in a constructor, destroyed in a destructor,
// movable, never copied.

#include <cuda_runtime_api.h>

#include <utility>

#include "backends/cuda/check.h"

namespace tunedops::cuda {

/// Owns a handle that `Destroy` takes back.
template <class Handle, auto destroy>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  Owner(Owner&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_ != nullptr) {
      ignore(destroy(handle_));
    }
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
};

/// A point in a stream's work; with timing, two of them measure what lies
/// between.
class Event : public Owner<cudaEvent_t, &cudaEventDestroy> {
 public:
  Event() : Owner(create()) {}

 private:
  static cudaEvent_t create() {
    cudaEvent_t event = nullptr;
    TUNEDOPS_CUDA_CHECK(cudaEventCreate(&event));
    return event;
  }
};

/// A stream of our own that does not wait for the legacy default stream.
class OwnStream : public Owner<cudaStream_t, &cudaStreamDestroy> {
 public:
  OwnStream() : Owner(create()) {}

 private:
  static cudaStream_t create() {
    cudaStream_t stream = nullptr;
    TUNEDOPS_CUDA_CHECK(
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
  }
};

using Graph = Owner<cudaGraph_t, &cudaGraphDestroy>;
using GraphExec = Owner<cudaGraphExec_t, &cudaGraphExecDestroy>;

}  // namespace tunedops::cuda
