#include "ops/aten_routing.h"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ops/gemm.h"
#include "ops/problem_record.h"
#include "ops/routed_dtype_gemm.h"

namespace tunedops {
namespace {

// What is registered while it is here. Never destroyed: that would take the
// kernels back at exit, when other threads may still multiply.
struct Routing {
  std::mutex mutex;
  std::vector<torch::Library> libraries;
};

Routing& routing() {
  static auto* const routing = new Routing;
  return *routing;
}

// Torch warns about every kernel that is put in the place of another. This one
// is meant, so exactly that warning is kept from the user.
class OverrideFilter final : public c10::WarningHandler {
 public:
  explicit OverrideFilter(c10::WarningHandler* next) : next_(next) {}
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("Overriding a previously registered kernel") ==
        std::string::npos) {
      next_->process(warning);
    }
  }

 private:
  c10::WarningHandler* next_;
};

// The warning comes through a once-only macro, whose flag must not be used up
// by ours: another library's override still deserves it.
class WarnAlways {
 public:
  WarnAlways() : before_(c10::WarningUtils::get_warnAlways()) {
    c10::WarningUtils::set_warnAlways(true);
  }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;
  ~WarnAlways() { c10::WarningUtils::set_warnAlways(before_); }

 private:
  bool before_;
};

constexpr c10::DispatchKey kRoutedKeys[] = {
    c10::DispatchKey::CPU,
#ifdef TUNEDOPS_USE_CUDA
    c10::DispatchKey::CUDA,
#endif
};

void route_products(torch::Library& m) {
  m.impl("mm", &Recorded<"mm", &routed_mm>::call);
  m.impl("mm.out", &RecordedOut<"mm", &routed_mm_out>::call);
  m.impl("addmm", &Recorded<"addmm", &routed_addmm>::call);
  m.impl("addmm.out", &RecordedOut<"addmm", &routed_addmm_out>::call);
  m.impl("addmm_", &RecordedInPlace<"addmm", &routed_addmm_>::call);
  m.impl("_addmm_activation",
         &Recorded<"_addmm_activation", &routed_addmm_activation>::call);
  m.impl("_addmm_activation.out",
         &RecordedOut<"_addmm_activation", &routed_addmm_activation_out>::call);
  m.impl("addmv", &Recorded<"addmv", &routed_addmv>::call);
  m.impl("addmv.out", &RecordedOut<"addmv", &routed_addmv_out>::call);
  m.impl("addmv_", &RecordedInPlace<"addmv", &routed_addmv_>::call);
  m.impl("bmm", &Recorded<"bmm", &routed_bmm>::call);
  m.impl("bmm.out", &RecordedOut<"bmm", &routed_bmm_out>::call);
  m.impl("baddbmm", &Recorded<"baddbmm", &routed_baddbmm>::call);
  m.impl("baddbmm.out", &RecordedOut<"baddbmm", &routed_baddbmm_out>::call);
  m.impl("baddbmm_", &RecordedInPlace<"baddbmm", &routed_baddbmm_>::call);
}

#ifdef TUNEDOPS_USE_CUDA
void route_dtype_products(torch::Library& m) {
  m.impl("mm.dtype", &Recorded<"mm", &routed_mm_dtype>::call);
  m.impl("mm.dtype_out", &RecordedOut<"mm", &routed_mm_dtype_out>::call);
  m.impl("addmm.dtype", &Recorded<"addmm", &routed_addmm_dtype>::call);
  m.impl("addmm.dtype_out",
         &RecordedOut<"addmm", &routed_addmm_dtype_out>::call);
  m.impl("bmm.dtype", &Recorded<"bmm", &routed_bmm_dtype>::call);
  m.impl("bmm.dtype_out", &RecordedOut<"bmm", &routed_bmm_dtype_out>::call);
  m.impl("baddbmm.dtype", &Recorded<"baddbmm", &routed_baddbmm_dtype>::call);
  m.impl("baddbmm.dtype_out",
         &RecordedOut<"baddbmm", &routed_baddbmm_dtype_out>::call);
}
#endif

}  // namespace

void install_routing() {
  Routing& ours = routing();
  const std::lock_guard lock(ours.mutex);
  if (!ours.libraries.empty()) {
    return;
  }
  OverrideFilter filter(c10::WarningUtils::get_warning_handler());
  const c10::WarningUtils::WarningHandlerGuard quiet(&filter);
  const WarnAlways always;
  std::vector<torch::Library> made;
  for (const c10::DispatchKey key : kRoutedKeys) {
    torch::Library& library = made.emplace_back(torch::Library::IMPL, "aten",
                                                key, __FILE__, __LINE__);
    route_products(library);
#ifdef TUNEDOPS_USE_CUDA
    if (key == c10::DispatchKey::CUDA) {
      route_dtype_products(library);
    }
#endif
  }
  ours.libraries = std::move(made);
}

void remove_routing() {
  Routing& ours = routing();
  const std::lock_guard lock(ours.mutex);
  ours.libraries.clear();
}

bool routing_is_installed() {
  Routing& ours = routing();
  const std::lock_guard lock(ours.mutex);
  return !ours.libraries.empty();
}

}  // namespace tunedops
