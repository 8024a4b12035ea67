#pragma once

// What a run of Gemm_Sm90 does before its kernel where operands are packed:
// copies of those that are not aligned, in workspace.

#include <array>

#include "kernels/gemm/cuda/pack_lines.h"
#include "kernels/gemm/cuda/sm90_config.h"
#include "tuning/plan.h"

namespace tunedops::cuda {

class Sm90Packing {
 public:
  Sm90Packing(const GemmProblem& problem, const Sm90Parameters& parameters);

  /// Begins to make the copies, and lets `operands` name them from then on.
  Status run(std::array<void*, kMaxOperands>& operands, void* workspace,
             cudaStream_t stream) const;

  /// Of workspace, behind what splits need and with what makes it aligned.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Copy {
    int operand = 0;
    std::size_t offset = 0;  // in workspace
    PackedLines lines;
  };
  std::array<Copy, 2> copies_;
  int count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tunedops::cuda
