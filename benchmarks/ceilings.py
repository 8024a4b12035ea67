"""What a GPU can do at best, measured in the same run, and the floor that follows.

A product takes at least as long as moving its operands and its output once, and at least as
long as its multiplications at the rate of a large product. Small products cannot reach the
floor: a launch alone takes longer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from sides import bytes_of
from tunedops.workloads import Workload

COPY_BYTES = 1 << 30
WARM_UP_CALLS = 3
READINGS = 10


@dataclass(frozen=True)
class Ceilings:
    """Bytes read or written a second, and by type two operations a multiplication."""

    bytes_per_second: float
    operations_per_second: dict[str, float]

    def floor_us(self, workload: Workload) -> float:
        """The least microseconds of a product."""
        operations = 2 * workload.batch * workload.m * workload.n * workload.k
        return 1e6 * max(
            bytes_of(workload) / self.bytes_per_second,
            operations / self.operations_per_second[workload.dtype],
        )


def measure_ceilings(dtypes: Iterable[str], device: torch.device) -> Ceilings:
    """A large copy, and a large product of each type."""
    rates = {dtype: product_rate(dtype, device) for dtype in sorted(set(dtypes))}
    ceilings = Ceilings(copy_rate(device), rates)
    torch.cuda.empty_cache()
    return ceilings


def copy_rate(device: torch.device) -> float:
    """Bytes a second, read and written."""
    source = torch.randint(0, 256, (COPY_BYTES,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * COPY_BYTES / fastest(lambda: target.copy_(source))


def product_rate(dtype: str, device: torch.device) -> float:
    """Operations a second."""
    size = product_size(dtype)
    product = Workload("", "mm", dtype, "nt", 1, size, size, size)
    mat1, mat2 = product.operands(device, random=True)
    out = torch.mm(mat1, mat2)
    return 2 * size**3 / fastest(lambda: torch.mm(mat1, mat2, out=out))


def product_size(dtype: str) -> int:
    """Rows and columns of a product that keeps the whole GPU busy for some milliseconds."""
    return 8192 if dtype in ("bfloat16", "float16") else 4096


def fastest(call: Callable[[], object]) -> float:
    """Seconds of the fastest of some calls."""
    for _ in range(WARM_UP_CALLS):
        call()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(READINGS + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    torch.cuda.synchronize()
    pairs = itertools.pairwise(events)
    return min(float(begin.elapsed_time(end)) for begin, end in pairs) / 1e3
