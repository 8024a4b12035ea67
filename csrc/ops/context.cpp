#include "ops/context.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <pthread.h>
#include <torch/version.h>

#include <cstdlib>

#include "backends/cpu/cpu_backend.h"
#include "kernels/gemm/cpu/register_cpu.h"
#include "kernels/gemm/gemm_definition.h"
#include "ops/default_gemm.h"
#include "ops/onednn_gemm.h"
#include "tuning/parallel_for.h"

namespace tunedops {
namespace {

void torch_parallel_for(std::int64_t count, int threads, ParallelForBody body,
                        const void* context) {
  const std::int64_t grain = (count + threads - 1) / threads;
  at::parallel_for(0, count, grain,
                   [body, context](std::int64_t begin, std::int64_t end) {
                     body(context, begin, end);
                   });
}

void warn_through_torch(const std::string& message) {
  // Verbatim: the place in our source would tell the user nothing.
  c10::warn(c10::Warning(c10::UserWarning(),
                         {__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
                         message, /*verbatim=*/true));
}

TuningContext* build_context() {
  auto* context = new TuningContext(
      [](const char* name) { return ::secure_getenv(name); });
  context->log().set_warning_handler(warn_through_torch);
  install_parallel_for(torch_parallel_for);

  context->register_op(std::make_unique<GemmDefinition>());
  context->register_backend(DeviceType::kCpu,
                            std::make_unique<cpu::CpuBackend>());
  context->add_validator(DeviceType::kCpu, "PT_VERSION",
                         [](Device) { return std::string(TORCH_VERSION); });

  KernelRegistry& kernels = context->kernels();
  kernels.register_kernel<DefaultGemm>(kGemmOp, DeviceType::kCpu);
  kernels.register_kernel<OneDnnGemm>(kGemmOp);
  register_cpu_gemm_kernels(kernels);
  return context;
}

}  // namespace

// Never destroyed: other threads may still multiply while the process exits.
TuningContext& getTuningContext() {
  static TuningContext* const context = [] {
    TuningContext* built = build_context();
    ::pthread_atfork([] { getTuningContext().before_fork(); },
                     [] { getTuningContext().after_fork(); },
                     [] { getTuningContext().after_fork(); });
    return built;
  }();
  return *context;
}

}  // namespace tunedops
