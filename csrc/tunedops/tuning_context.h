#pragma once

// The public C++ header: the process's TuningContext, and what is needed to
// register ops and kernels with it. Link against tunedops' compiled module
// (`tunedops._C.__file__`).

#include "ops/context.h"
#include "tuning/kernel.h"
#include "tuning/op_definition.h"
#include "tuning/tuning_context.h"
