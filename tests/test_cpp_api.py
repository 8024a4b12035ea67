"""Other extensions can register kernels through the public C++ header.

Builds a small extension against `tunedops.get_include()`, which registers a kernel of its
own, and lets that kernel compute a product.
"""

from __future__ import annotations


import pytest
import torch
from torch.utils.cpp_extension import load

import tunedops
from tunedops import _C

SOURCE = r"""
#include <pybind11/pybind11.h>

#include "kernels/gemm/gemm_kernel.h"
#include "tunedops/tuning_context.h"

namespace {

// Writes 42 everywhere: unmistakable, and wrong enough to never win a race.
class FortyTwo final : public tunedops::GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_FortyTwo"; }
  tunedops::DeviceType device_type() const override {
    return tunedops::DeviceType::kCpu;
  }

 protected:
  tunedops::Status do_supports(const tunedops::GemmProblem& p) const override {
    return p.a_dtype == tunedops::DType::kFloat32 && !p.batched
               ? tunedops::Status::ok()
               : tunedops::Status::unsupported("float only");
  }
  std::unique_ptr<tunedops::Plan> do_prepare(
      const tunedops::GemmProblem& problem,
      const tunedops::Config&) const override {
    struct FortyTwoPlan final : tunedops::Plan {
      tunedops::GemmProblem p;
      tunedops::Status run(const tunedops::Arguments& arguments,
                           tunedops::Stream) const override {
        auto* out = static_cast<float*>(arguments.operands[tunedops::kGemmOut]);
        for (std::int64_t column = 0; column < p.n; ++column) {
          for (std::int64_t row = 0; row < p.m; ++row) {
            out[column * p.ldc + row] = 42.0F;
          }
        }
        return tunedops::Status::ok();
      }
    };
    auto plan = std::make_unique<FortyTwoPlan>();
    plan->p = problem;
    return plan;
  }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("register_kernel", [] {
    tunedops::getTuningContext().kernels().register_kernel<FortyTwo>(
        tunedops::kGemmOp);
  });
}
"""


@pytest.mark.slow
def test_kernel_of_another_extension(tmp_path):
    source = tmp_path / "forty_two.cpp"
    source.write_text(SOURCE)
    extension = load(
        "forty_two",
        [str(source)],
        extra_include_paths=[tunedops.get_include()],
        extra_cflags=["-std=c++20", "-O0"],
        extra_ldflags=[_C.__file__],
        build_directory=str(tmp_path),
    )
    extension.register_kernel()
    assert "Gemm_FortyTwo" in _C.kernel_names(("cpu", 0))

    a, b = torch.randn(5, 7), torch.randn(7, 3)
    with tunedops.force("Gemm_FortyTwo"):
        assert (tunedops.mm(a, b) == 42).all()
    # It may compete, but the numeric check keeps it from winning.
    outcome = _C.tune(("cpu", 0), *_C.key_of(a, b), False)
    refusals = {m[0]: m[3] for m in outcome["measurements"]}
    assert outcome["solution"] != "Gemm_FortyTwo"
    assert refusals["Gemm_FortyTwo"] != ""
