#pragma once

// The process's one TuningContext, built on first use with everything that
// this build has: ops, kernels, backends, torch's threads and warnings.

#include "tuning/tuning_context.h"

namespace tunedops {

TUNEDOPS_PUBLIC TuningContext& getTuningContext();

/// How to warn where torch has no way to Python above it (a call through
/// torch.ops, say); without one, warnings there go to standard error.
void set_python_warning(void (*warn)(const std::string& message));

}  // namespace tunedops
