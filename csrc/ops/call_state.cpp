#include "ops/call_state.h"

#include <ATen/Config.h>
#include <ATen/Parallel.h>
#if AT_PARALLEL_OPENMP
#include <omp.h>
#endif

#include "kernels/gemm/gemm_problem.h"
#include "ops/precision_flags.h"

namespace tunedops {
namespace {

// Threads that a product would use now. On a thread that has asked at:: before,
// as every problem does, OpenMP answers the same in a third of the time.
std::uint16_t pool_threads() {
#if AT_PARALLEL_OPENMP
  return static_cast<std::uint16_t>(
      omp_in_parallel() != 0 ? 1 : omp_get_max_threads());
#else
  return static_cast<std::uint16_t>(
      at::in_parallel_region() ? 1 : at::get_num_threads());
#endif
}

}  // namespace

ProblemHeader call_state(c10::Device device, c10::ScalarType dtype) {
  ProblemHeader header;
  header.op = kGemmOp;
  if (device.is_cpu()) {
    header.device_type = DeviceType::kCpu;
    header.threads = pool_threads();
  } else {
    header.device_type = DeviceType::kCuda;
    header.device_index = device.index();
  }
  header.precision = precision_flags(device.type(), dtype);
  return header;
}

}  // namespace tunedops
