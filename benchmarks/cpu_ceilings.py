"""What the CPU can do at best, measured in the same run, for the floor of ceilings.py.

Memory is read faster than it is copied, and most of what a product moves is read: by a kernel of
ours that reads each weight once, since torch's sum is slower. The rate of multiplications is that
of a large product by whichever kernel is faster, torch's own or oneDNN.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import torch
import tunedops
from ceilings import Ceilings
from sides import DEFAULT, forced
from tunedops.workloads import Workload

READ_BYTES = 1 << 28
SIZE = 2048
WARM_UP_CALLS = 2
READINGS = 8
KERNELS = (DEFAULT, "Gemm_OneDnn")
READER = "Gemm_CpuSkinny"


def measure_cpu_ceilings(dtypes: Iterable[str]) -> Ceilings:
    """Large sums and copies, and a large product of each type."""
    rates = {dtype: product_rate(dtype) for dtype in sorted(set(dtypes))}
    return Ceilings(memory_rate(), rates)


def memory_rate() -> float:
    """Bytes a second."""
    source = torch.ones(READ_BYTES // 4)
    target = torch.empty_like(source)
    copying = 2 * READ_BYTES / fastest(lambda: target.copy_(source))
    side = math.isqrt(READ_BYTES // 4)
    weights, x = source[: side * side].view(side, side), torch.ones(1, side)
    with forced(READER):
        reading = 4 * side * side / fastest(lambda: tunedops.mm(x, weights.t()))
    return max(reading, copying)


def product_rate(dtype: str) -> float:
    """Operations a second."""
    mat1, mat2 = Workload("", "mm", dtype, "nt", 1, SIZE, SIZE, SIZE).operands("cpu", random=True)
    seconds = []
    for kernel in KERNELS:
        with forced(kernel):
            seconds.append(fastest(lambda: tunedops.mm(mat1, mat2)))
    return 2 * SIZE**3 / min(seconds)


def fastest(call: Callable[[], object]) -> float:
    """Seconds of the fastest of some calls."""
    for _ in range(WARM_UP_CALLS):
        call()
    taken = []
    for _ in range(READINGS):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)
