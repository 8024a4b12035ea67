#include "ops/context.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <pthread.h>
#include <torch/version.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "backends/cpu/cpu_backend.h"
#include "kernels/gemm/cpu/register_cpu.h"
#include "kernels/gemm/gemm_definition.h"
#include "ops/default_gemm.h"
#include "ops/onednn_gemm.h"
#include "tuning/parallel_for.h"
#ifdef TUNEDOPS_USE_CUDA
#include "backends/cuda/cuda_backend.h"
#include "kernels/gemm/cuda/register_cuda.h"
#endif

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

// What torch does with warnings where no Python is above: known from the time
// when this library is loaded, since nobody has set another handler then.
c10::WarningHandler* const without_python =
    c10::WarningUtils::get_warning_handler();

std::atomic<void (*)(const std::string&)> warn_in_python{nullptr};

// As a Python warning at the user's own line: without a place in our source,
// torch lets Python find the place.
void warn_through_torch(const std::string& message) {
  if (c10::WarningUtils::get_warning_handler() == without_python) {
    if (auto* warn = warn_in_python.load()) {
      warn(message);
    } else {
      std::fprintf(stderr, "%s\n", message.c_str());
    }
    return;
  }
  c10::warn(c10::Warning(c10::UserWarning(), {nullptr, nullptr, 0}, message,
                         /*verbatim=*/false));
}

// Set when the package is imported, before anything is multiplied.
std::string& packaged_databases() {
  static std::string folder;
  return folder;
}

TuningContext* build_context() {
  auto* context =
      new TuningContext([](const char* name) { return ::secure_getenv(name); });
  context->log().set_warning_handler(warn_through_torch);
  install_parallel_for(torch_parallel_for);
  context->set_packaged_databases(packaged_databases());

  context->register_op(std::make_unique<GemmDefinition>());
  context->register_backend(DeviceType::kCpu,
                            std::make_unique<cpu::CpuBackend>());
  context->add_validator(DeviceType::kCpu, "PT_VERSION",
                         [](Device) { return std::string(TORCH_VERSION); });

  KernelRegistry& kernels = context->kernels();
  kernels.register_kernel<DefaultGemm>(kGemmOp, DeviceType::kCpu);
  kernels.register_kernel<OneDnnGemm>(kGemmOp);
  register_cpu_gemm_kernels(kernels);
#ifdef TUNEDOPS_USE_CUDA
  // Whether there is a GPU is not asked here: the question starts the driver,
  // after which children cannot use it and CUDA_VISIBLE_DEVICES means nothing.
  context->register_backend(DeviceType::kCuda,
                            std::make_unique<cuda::CudaBackend>());
  context->add_validator(DeviceType::kCuda, "PT_VERSION",
                         [](Device) { return std::string(TORCH_VERSION); });
  // Which of the two libraries torch calls changes what Default is.
  context->add_validator(DeviceType::kCuda, "BLAS_LIBRARY", [](Device) {
    return std::string(
        at::BlasBackendToString(at::globalContext().blasPreferredBackend()));
  });
  kernels.register_kernel<DefaultGemm>(kGemmOp, DeviceType::kCuda);
  register_cuda_gemm_kernels(kernels);
#endif
  return context;
}

}  // namespace

void set_packaged_databases(const std::string& folder) {
  packaged_databases() = folder;
  if (context_memory::built != nullptr) {
    context_memory::built->set_packaged_databases(folder);
  }
}

void set_python_warning(void (*warn)(const std::string& message)) {
  warn_in_python = warn;
}

TuningContext* context_memory::built = nullptr;

// Never destroyed: other threads may still multiply while the process exits.
TuningContext& getTuningContext() {
  static TuningContext* const context = [] {
    TuningContext* built = build_context();
    ::pthread_atfork([] { getTuningContext().before_fork(); },
                     [] { getTuningContext().after_fork(); },
                     [] { getTuningContext().after_fork(); });
    context_memory::built = built;
    return built;
  }();
  return *context;
}

}  // namespace tunedops
