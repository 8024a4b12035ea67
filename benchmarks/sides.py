"""The sides of a comparison: torch's own product, ours, and ours with a forced solution.

They take what `Workload.operands` makes. torch's products stay as they are: routing is not
installed, also not for a forced solution, so that `default` is what a program without
tunedops runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import tunedops
from torch import Tensor
from tunedops import _C
from tunedops.workloads import Workload

Call = Callable[..., Tensor]
Operands = tuple[Tensor, ...]
Key = tuple[str, str]

DEFAULT = "Default"
NO_RESULT = "(no result)"
MAX_COPIES = 128


def calls_of(workload: Workload) -> tuple[Call, Call]:
    """torch's function and ours."""
    if workload.op == "bmm":
        return torch.bmm, tunedops.bmm
    if workload.op == "mm":
        return torch.mm, tunedops.mm
    return (
        lambda x, w_t, bias: torch.nn.functional.linear(x, w_t.t(), bias),
        lambda x, w_t, bias: tunedops.linear(x, w_t.t(), bias),
    )


def rotation(workload: Workload, device: str | torch.device, rotating_bytes: int) -> list[Operands]:
    """Operand sets that, with their outputs, together exceed `rotating_bytes`."""
    copies = min(MAX_COPIES, rotating_bytes // bytes_of(workload) + 1)
    return [workload.operands(device, random=True) for _ in range(copies)]


def bytes_of(workload: Workload) -> int:
    """Bytes of the operands and the output of one call."""
    m, n, k = workload.m, workload.n, workload.k
    elements = workload.batch * (m * k + k * n + m * n)
    elements += n if workload.op == "linear" else 0
    return elements * getattr(torch, workload.dtype).itemsize


def key_of(operands: Operands) -> Key | None:
    """The key that the product has in a results file; None if nothing can be chosen."""
    mat1, mat2, *bias = operands
    return _C.key_of(mat1, mat2, bias[0] if bias else None)


def key_on(workload: Workload, device: tuple[str, int]) -> Key | None:
    """The key that a workload's product has there."""
    return key_of(workload.operands(torch.device(*device)))


def stored_solution(device: tuple[str, int], key: Key | None) -> str:
    """What the results file in use, or the database in its stead, says for a key."""
    stored = _C.stored_anywhere(device, *key) if key is not None else None
    return stored[2] if stored is not None else NO_RESULT


def is_default(solution: str) -> bool:
    """Whether torch's own product runs, by choice or for want of a result."""
    return solution in (DEFAULT, NO_RESULT)


@contextmanager
def forced(solution: str) -> Iterator[None]:
    """As `tunedops.force`, but torch's own products are not routed."""
    outer = _C.exchange_overlay(_C.forced_overlay(solution))
    try:
        yield
    finally:
        _C.exchange_overlay(outer)
