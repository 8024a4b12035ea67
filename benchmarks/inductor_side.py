"""A product as Inductor compiles it when it may measure which kernel is fastest.

The cache on disk is an empty one, so that nothing is taken over from another run, and each
product is compiled for its sizes alone.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from sides import Call, Operands, calls_of
from torch._inductor.utils import run_and_get_code
from tunedops.workloads import Workload

MODE = "max-autotune-no-cudagraphs"
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
# torch's own kernels, and those that Inductor generated, where its code calls them.
KERNELS = re.compile(r"\b(extern_kernels\.\w+(?=\()|\w+(?=\.run\())")


@dataclass(frozen=True)
class Compiled:
    """A function that was compiled, and how."""

    call: Call
    seconds: float
    """For compiling, with the measurements by which Inductor chooses."""
    kernels: str
    """Those that one call runs, in their order; several where it pads or splits a product."""


@contextmanager
def empty_caches() -> Iterator[None]:
    """What is compiled is stored in a folder of its own, which is removed afterwards."""
    before = {name: os.environ.get(name) for name in CACHES}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ |= {name: str(Path(folder) / part) for name, part in CACHES.items()}
        try:
            yield
        finally:
            for name, text in before.items():
                if text is None:
                    del os.environ[name]
                else:
                    os.environ[name] = text


def compile_product(workload: Workload, operands: Operands) -> Compiled:
    """Compiles torch's own function, for these sizes and strides, and runs it once."""
    default, _ = calls_of(workload)
    compiled = torch.compile(
        lambda *tensors: default(*tensors), mode=MODE, fullgraph=True, dynamic=False
    )
    begin = time.perf_counter()
    _, codes = run_and_get_code(compiled, *operands)  # forgets what was compiled before
    seconds = time.perf_counter() - begin
    return Compiled(compiled, seconds, kernels_in("\n".join(codes)))


def kernels_in(code: str) -> str:
    """The kernels that generated code calls."""
    return " ".join(KERNELS.findall(code)) or "(unknown)"
