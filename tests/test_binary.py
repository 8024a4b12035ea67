"""What the compiled module may hold: every kernel is loaded and compiled by everyone.

A kernel more for each type, layout and epilogue is how such modules grow to hundreds of
megabytes; here epilogues, scalars and batches are run-time arguments.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tunedops import _C

MOST_KERNELS = 150
MOST_BYTES = 40 << 20

MODULE = Path(_C.__file__)


def kernels() -> set[str]:
    """The names of the kernels that are compiled in, from those of their host-side stubs."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    symbols = subprocess.run([nm, MODULE], capture_output=True, text=True, check=True).stdout
    stubs = re.findall(r"__device_stub__(\w+)", symbols)
    return {re.sub(r"E(5__tmp|8__handle)$", "", stub) for stub in stubs}


def test_kernels_are_few() -> None:
    if not _C.built_with_cuda:
        pytest.skip("this build has no CUDA")
    found = kernels()
    assert any("multiply_skinny" in name for name in found)
    assert len(found) <= MOST_KERNELS


def test_the_module_is_small() -> None:
    assert MODULE.stat().st_size <= MOST_BYTES
