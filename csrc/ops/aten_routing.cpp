#include "ops/aten_routing.h"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ops/gemm.h"
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
  m.impl("mm", &routed_mm);
  m.impl("mm.out", &routed_mm_out);
  m.impl("addmm", &routed_addmm);
  m.impl("addmm.out", &routed_addmm_out);
  m.impl("addmm_", &routed_addmm_);
  m.impl("_addmm_activation", &routed_addmm_activation);
  m.impl("_addmm_activation.out", &routed_addmm_activation_out);
  m.impl("addmv", &routed_addmv);
  m.impl("addmv.out", &routed_addmv_out);
  m.impl("addmv_", &routed_addmv_);
  m.impl("bmm", &routed_bmm);
  m.impl("bmm.out", &routed_bmm_out);
  m.impl("baddbmm", &routed_baddbmm);
  m.impl("baddbmm.out", &routed_baddbmm_out);
  m.impl("baddbmm_", &routed_baddbmm_);
}

#ifdef TUNEDOPS_USE_CUDA
void route_dtype_products(torch::Library& m) {
  m.impl("mm.dtype", &routed_mm_dtype);
  m.impl("mm.dtype_out", &routed_mm_dtype_out);
  m.impl("addmm.dtype", &routed_addmm_dtype);
  m.impl("addmm.dtype_out", &routed_addmm_dtype_out);
  m.impl("bmm.dtype", &routed_bmm_dtype);
  m.impl("bmm.dtype_out", &routed_bmm_dtype_out);
  m.impl("baddbmm.dtype", &routed_baddbmm_dtype);
  m.impl("baddbmm.dtype_out", &routed_baddbmm_dtype_out);
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
