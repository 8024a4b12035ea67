#pragma once

// Which operands our own kernels for GPUs can read and write, whatever the type
// of the first is and however long they are.

#include "kernels/gemm/gemm_problem.h"
#include "tuning/status.h"

namespace tunedops::cuda {

Status supports_operands(const GemmProblem& problem);

}  // namespace tunedops::cuda
