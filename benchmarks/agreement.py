"""Whether a side computed the product that it was timed on.

A kernel that is fast because it is wrong must not get into a record, so each row's output is
compared once with the product in the next wider type. What torch's own product errs by is
the measure, with room for another order of the additions: over all elements together, which
shows a small error everywhere, and for the worst element, which shows a large error somewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from sides import Operands
from torch import Tensor

WIDER = {
    torch.bfloat16: torch.float32,
    torch.float16: torch.float32,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
DOUBLES = (torch.float64, torch.complex128)
ROOM = 4.0
"""How many times torch's own error another kernel's may be."""
ROUNDINGS = 8.0
"""Of the output's type, in which partial sums may be added up: so many are a bound."""


class WrongResult(RuntimeError):
    """An output is not the product."""


class Side(Protocol):
    """One of those that are timed."""

    def fresh_output(self) -> Tensor:
        """The output for the first operands, computed anew."""
        ...


def check_outputs(sides: Sequence[Side], solutions: Sequence[str], operands: Operands) -> None:
    """Raises WrongResult if one of them is no such product as the first, which is torch's."""
    first = sides[0].fresh_output()
    for side, solution in zip(sides[1:], solutions[1:], strict=True):
        if problem := complaint(side.fresh_output(), first, operands):
            raise WrongResult(f"{solution} is wrong: {problem}")


def complaint(tuned: Tensor, default: Tensor, operands: Operands) -> str | None:
    """Why `tuned` is no such product as `default` is, or None if it is one."""
    expected = reference(operands)
    epsilon = torch.finfo(default.dtype).eps
    sums = torch.float64 if default.dtype in DOUBLES else torch.float32
    summing = torch.finfo(sums).eps * math.sqrt(operands[0].shape[-1])

    allowed = max(ROOM * error_of(default, expected), epsilon) + summing
    error = error_of(tuned, expected)
    if not error <= allowed:  # also for NaN
        return f"relative error {error:.2e}, where {allowed:.2e} is allowed"

    allowed = ROOM * (worst_element(default, expected) + summing) + ROUNDINGS * epsilon
    error = worst_element(tuned, expected)
    if not error <= allowed:
        return (
            f"an element is off by {error:.2e} of the product's root mean square, "
            f"where {allowed:.2e} is allowed"
        )
    return None


def reference(operands: Operands) -> Tensor:
    """The product in the wider type."""
    dtype = WIDER.get(operands[0].dtype, operands[0].dtype)
    mat1, mat2, *bias = (operand.to(dtype) for operand in operands)
    if bias:
        return torch.addmm(bias[0], mat1, mat2)
    return torch.bmm(mat1, mat2) if mat1.dim() == 3 else torch.mm(mat1, mat2)


def error_of(result: Tensor, expected: Tensor) -> float:
    """The Frobenius norm of the difference, relative to that of `expected`."""
    difference = torch.linalg.vector_norm(result.to(expected.dtype) - expected)
    return float(difference / torch.linalg.vector_norm(expected))


def worst_element(result: Tensor, expected: Tensor) -> float:
    """The largest difference of an element, relative to the root mean square of `expected`."""
    difference = (result.to(expected.dtype) - expected).abs().max()
    root_mean_square = torch.linalg.vector_norm(expected) / math.sqrt(expected.numel())
    return float(difference / root_mean_square)
