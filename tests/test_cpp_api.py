"""Other extensions can register kernels through the public C++ header.

Builds a small library against `tunedops.get_include()` and the compiled module; what its
kernels are good for otherwise is in test_chosen_kernel.py.
"""

from __future__ import annotations

from pathlib import Path

import tunedops
from conftest import RunPython


def test_the_headers_come_with_the_package() -> None:
    folder = Path(tunedops.get_include())
    assert (folder / "tunedops" / "tuning_context.h").is_file()
    assert (folder / "kernels" / "gemm" / "gemm_kernel.h").is_file()


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
