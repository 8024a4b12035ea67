#include "kernels/gemm/cuda/workspace_cap.h"

#include "backends/cuda/device_facts.h"

namespace tunedops::cuda {

std::size_t workspace_cap(const GemmProblem& problem) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  if (problem.workspace_mib != 0) {
    return problem.workspace_mib * kMiB;
  }
  return device_facts(problem.header.device_index).major >= 9 ? 32 * kMiB
                                                              : 4 * kMiB;
}

}  // namespace tunedops::cuda
