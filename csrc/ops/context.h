#pragma once

// The process's one TuningContext, built on first use with everything that
// this build has: ops, kernels, backends, torch's threads and warnings.

#include "tuning/tuning_context.h"

namespace tunedops {

TUNEDOPS_PUBLIC TuningContext& getTuningContext();

}  // namespace tunedops
