// Which function runs for which dispatch key of torch.ops.tunedops.

#include <torch/library.h>

#include "ops/aten_forms.h"
#include "ops/dispatch_wrappers.h"
#include "ops/gemm.h"
#include "ops/problem_record.h"

namespace tunedops {
namespace {

void register_ours(torch::Library& m) {
  m.impl("mm", &Recorded<"mm", &mm>::call);
  m.impl("mm.out", &RecordedOut<"mm", &mm_out>::call);
  m.impl("addmm", &Recorded<"addmm", &addmm>::call);
  m.impl("addmm.out", &RecordedOut<"addmm", &addmm_out>::call);
  m.impl("bmm", &Recorded<"bmm", &bmm>::call);
  m.impl("bmm.out", &RecordedOut<"bmm", &bmm_out>::call);
  m.impl("baddbmm", &Recorded<"baddbmm", &baddbmm>::call);
  m.impl("baddbmm.out", &RecordedOut<"baddbmm", &baddbmm_out>::call);
  m.impl("linear", &Recorded<"linear", &linear>::call);
}

void register_aten(torch::Library& m) {
  m.impl("mm", &aten_forms::mm);
  m.impl("mm.out", &aten_forms::mm_out);
  m.impl("addmm", &aten_forms::addmm);
  m.impl("addmm.out", &aten_forms::addmm_out);
  m.impl("bmm", &aten_forms::bmm);
  m.impl("bmm.out", &aten_forms::bmm_out);
  m.impl("baddbmm", &aten_forms::baddbmm);
  m.impl("baddbmm.out", &aten_forms::baddbmm_out);
  m.impl("linear", &aten_forms::linear);
}

template <c10::DeviceType device>
void register_autocast(torch::Library& m) {
  m.impl("mm", &Autocast<"tunedops::mm", device, &aten_forms::mm>::call);
  m.impl("addmm",
         &Autocast<"tunedops::addmm", device, &aten_forms::addmm>::call);
  m.impl("bmm", &Autocast<"tunedops::bmm", device, &aten_forms::bmm>::call);
  m.impl("baddbmm",
         &Autocast<"tunedops::baddbmm", device, &aten_forms::baddbmm>::call);
  m.impl("linear",
         &Autocast<"tunedops::linear", device, &aten_forms::linear>::call);
}

}  // namespace

TORCH_LIBRARY_IMPL(tunedops, CPU, m) { register_ours(m); }
#ifdef TUNEDOPS_USE_CUDA
TORCH_LIBRARY_IMPL(tunedops, CUDA, m) { register_ours(m); }
#else
TORCH_LIBRARY_IMPL(tunedops, CUDA, m) { register_aten(m); }
#endif

// Devices and layouts that we have no kernels for multiply as without us.
TORCH_LIBRARY_IMPL(tunedops, MkldnnCPU, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, SparseCPU, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, SparseCUDA, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, SparseCsrCPU, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, SparseCsrCUDA, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, MPS, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, XPU, m) { register_aten(m); }
TORCH_LIBRARY_IMPL(tunedops, PrivateUse1, m) { register_aten(m); }

TORCH_LIBRARY_IMPL(tunedops, FuncTorchBatched, m) { register_aten(m); }

// Conjugated operands are part of a problem; without this they would be copied
// before we see them.
TORCH_LIBRARY_IMPL(tunedops, Conjugate, m) {
  for (const char* op : {"mm", "mm.out", "addmm", "addmm.out", "bmm", "bmm.out",
                         "baddbmm", "baddbmm.out", "linear"}) {
    m.impl(op, torch::CppFunction::makeFallthrough());
  }
}

TORCH_LIBRARY_IMPL(tunedops, Autograd, m) {
  m.impl("mm", &Autograd<"tunedops::mm", "", &aten_forms::mm>::call);
  m.impl("mm.out", &Autograd<"tunedops::mm", "out", &aten_forms::mm_out>::call);
  m.impl("addmm", &Autograd<"tunedops::addmm", "", &aten_forms::addmm>::call);
  m.impl("addmm.out",
         &Autograd<"tunedops::addmm", "out", &aten_forms::addmm_out>::call);
  m.impl("bmm", &Autograd<"tunedops::bmm", "", &aten_forms::bmm>::call);
  m.impl("bmm.out",
         &Autograd<"tunedops::bmm", "out", &aten_forms::bmm_out>::call);
  m.impl("baddbmm",
         &Autograd<"tunedops::baddbmm", "", &aten_forms::baddbmm>::call);
  m.impl("baddbmm.out",
         &Autograd<"tunedops::baddbmm", "out", &aten_forms::baddbmm_out>::call);
  m.impl("linear",
         &Autograd<"tunedops::linear", "", &aten_forms::linear>::call);
}

TORCH_LIBRARY_IMPL(tunedops, AutocastCPU, m) {
  register_autocast<c10::DeviceType::CPU>(m);
}
TORCH_LIBRARY_IMPL(tunedops, AutocastCUDA, m) {
  register_autocast<c10::DeviceType::CUDA>(m);
}

TORCH_LIBRARY_IMPL(tunedops, Functionalize, m) {
  m.impl("mm.out", &FunctionalizedOut<"tunedops::mm", &aten_forms::mm>::call);
  m.impl("addmm.out",
         &FunctionalizedOut<"tunedops::addmm", &aten_forms::addmm>::call);
  m.impl("bmm.out",
         &FunctionalizedOut<"tunedops::bmm", &aten_forms::bmm>::call);
  m.impl("baddbmm.out",
         &FunctionalizedOut<"tunedops::baddbmm", &aten_forms::baddbmm>::call);
}

}  // namespace tunedops
