"""Other extensions can register kernels through the public C++ header, and call the ops.

Builds a small library against `tunedops.get_include()` and the compiled module (what its
kernels are good for otherwise is in test_chosen_kernel.py and test_search_setting.py), and one
that knows torch only.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch_library
import tunedops
from conftest import RunPython

# A bias of C++ may be there and yet be no tensor, which Python cannot say.
LAYER = """
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

at::Tensor layer(const at::Tensor& input, const at::Tensor& weight) {
  using Linear = at::Tensor(const at::Tensor&, const at::Tensor&,
                            const std::optional<at::Tensor>&, c10::string_view);
  static const auto linear = c10::Dispatcher::singleton()
                                 .findSchemaOrThrow("tunedops::linear", "")
                                 .typed<Linear>();
  return linear.call(input, weight, at::Tensor(), "none");
}

TORCH_LIBRARY(cpp_caller, m) { m.def("layer(Tensor input, Tensor weight) -> Tensor", &layer); }
"""


def test_the_headers_come_with_the_package() -> None:
    folder = Path(tunedops.get_include())
    assert (folder / "tunedops" / "tuning_context.h").is_file()
    assert (folder / "kernels" / "gemm" / "gemm_kernel.h").is_file()
    assert (folder / "tuning" / "config_space.h").is_file()
    assert (folder / "tuning" / "listed_space.h").is_file()


def test_kernel_of_another_extension(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        assert "Gemm_Constant" in _C.kernel_names(CPU)
        a, b = torch.randn(5, 7), torch.randn(7, 3)
        with tunedops.force("Gemm_Constant_value_43"):
            assert (tunedops.mm(a, b) == 43).all()
        key = _C.key_of(a, b)
        assert dict(_C.refusals(CPU, *key))["Gemm_Constant"] == ""
        key = _C.key_of(a.double(), b.double())
        assert dict(_C.refusals(CPU, *key))["Gemm_Constant"] == "plain products of floats only"
        """,
        prelude=extra_kernels,
    )


def test_names_are_taken_once(run_python: RunPython, extra_kernels: str) -> None:
    done = run_python("extra_kernels.load(library)", prelude=extra_kernels, fails=True)
    assert "register_kernel: 'Gemm_Constant' is registered already" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(torch_library.compiler() is None, reason="needs a C++ compiler")
def test_an_undefined_bias_is_none(tmp_path: Path) -> None:
    torch.ops.load_library(torch_library.build(LAYER, tmp_path))
    input, weight = torch.randn(4, 8), torch.randn(6, 8)
    expected = torch.nn.functional.linear(input, weight)
    with tunedops.force("Gemm_OneDnn"):
        for _ in range(2):  # the second is known
            torch.testing.assert_close(torch.ops.cpp_caller.layer(input, weight), expected)
    torch.testing.assert_close(torch.ops.cpp_caller.layer(input, weight), expected)
    # Autograd, which reads the bias too.
    weight.requires_grad_()
    torch.ops.cpp_caller.layer(input, weight).sum().backward()
    assert weight.grad is not None
