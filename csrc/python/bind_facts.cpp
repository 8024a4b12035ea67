// What there is on this machine: kernels, devices, instruction sets, threads.

#include <ATen/Parallel.h>

#include <mutex>
#include <set>
#include <thread>

#include "backends/cpu/isa.h"
#include "ops/context.h"
#include "ops/gemm.h"
#include "python/bindings.h"
#include "tuning/parallel_for.h"

#ifdef TUNEDOPS_USE_CUDA
#include "backends/cuda/check.h"
#include "backends/cuda/device_facts.h"
#include "backends/cuda/device_guard.h"
#include "backends/cuda/scatter_blocks.h"
#endif

namespace tunedops {
namespace {

// Distinct threads that a parallel_for of ours runs on.
int parallel_threads() {
  (void)getTuningContext();  // installs torch's pool
  std::mutex mutex;
  std::set<std::thread::id> seen;
  const int threads = at::get_num_threads();
  parallel_for(64 * threads, threads, [&](std::int64_t, std::int64_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return static_cast<int>(seen.size());
}

std::vector<std::string> kernel_names(const PythonDevice& device) {
  std::vector<std::string> names;
  for (const Kernel* kernel : getTuningContext().kernels().kernels(
           kGemmOp, device_from(device).type)) {
    names.emplace_back(kernel->name());
  }
  return names;
}

void set_isa_limit(const std::optional<std::string>& name) {
  if (!name) {
    cpu::set_isa_limit(std::nullopt);
    return;
  }
  for (const auto isa :
       {cpu::Isa::kPortable, cpu::Isa::kAvx2, cpu::Isa::kAvx512,
        cpu::Isa::kAvx512Bf16, cpu::Isa::kAvx512Amx}) {
    if (cpu::to_text(isa) == *name) {
      cpu::set_isa_limit(isa);
      return;
    }
  }
  throw std::invalid_argument("unknown instruction set '" + *name + "'");
}

}  // namespace

void bind_facts(py::module_& m) {
  def(m, "kernel_names", &kernel_names);
  def(
      m, "has_backend", +[](const std::string& type) {
        return getTuningContext().has_backend(device_from({type, 0}).type);
      });
  def(
      m, "device_name", +[](const PythonDevice& device) {
        const Device d = device_from(device);
        return getTuningContext().backend(d).device_name(d);
      });
  def(
      m, "cache_bytes", +[](const PythonDevice& device) {
        const Device d = device_from(device);
        return getTuningContext().backend(d).cache_bytes(d);
      });
  def(m, "parallel_threads", &parallel_threads);
  def(m, "isa", +[] { return std::string(cpu::to_text(cpu::usable_isa())); });
  def(m, "set_isa_limit", &set_isa_limit);
#ifdef TUNEDOPS_USE_CUDA
  m.attr("built_with_cuda") = true;
  def(
      m, "scatter_blocks",
      +[](int device, unsigned seed, std::uintptr_t stream) {
        const cuda::DeviceGuard guard(device);
        TUNEDOPS_CUDA_CHECK(
            cuda::scatter_blocks(cuda::device_facts(device).multiprocessors,
                                 seed, reinterpret_cast<cudaStream_t>(stream)));
      });
#else
  m.attr("built_with_cuda") = false;
#endif
}

}  // namespace tunedops
