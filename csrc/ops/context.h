#pragma once

// The process's one TuningContext, built on first use with everything that
// this build has: ops, kernels, backends, torch's threads and warnings.

#include "tuning/tuning_context.h"

namespace tunedops {

TUNEDOPS_PUBLIC TuningContext& getTuningContext();

namespace context_memory {
/// Null until the context is built.
extern TuningContext* built;
}  // namespace context_memory

/// The same without a function call, since every product asks.
inline TuningContext& current_context() {
  TuningContext* const built = context_memory::built;
  return built != nullptr ? *built : getTuningContext();
}

/// How to warn where torch has no way to Python above it (a call through
/// torch.ops, say); without one, warnings there go to standard error.
void set_python_warning(void (*warn)(const std::string& message));

/// Where the package has its databases; the context need not be built yet.
void set_packaged_databases(const std::string& folder);

}  // namespace tunedops
