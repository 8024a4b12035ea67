"""Whether the lines of a product's matrices begin where the widest loads and stores may."""

from __future__ import annotations

import torch
from tunedops.workloads import Workload

LOAD_BYTES = 16


def elements(dtype: str) -> int:
    """How many of a type one load brings."""
    return max(1, LOAD_BYTES // getattr(torch, dtype).itemsize)


def is_aligned(workload: Workload) -> bool:
    """Whether the lines of both operands and of the output are whole numbers of loads."""
    lines = (
        workload.m if workload.layout == "tn" else workload.k,
        workload.k if workload.layout == "nt" else workload.n,
        workload.n,
    )
    return all(line % elements(workload.dtype) == 0 for line in lines)
