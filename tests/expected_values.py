"""What products should give, and how close to it a kernel must come.

Expected values are sums of elementwise products in the widest type of the same kind: no
matrix product computes them, since torch's own are under test too once they are routed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none"
) -> Tensor:
    """torch's words for tunedops.linear."""
    return ACTIVATIONS[activation](functional.linear(input, weight, bias))


TORCH_OPS: dict[str, Callable[..., Tensor]] = {
    "mm": torch.mm,
    "addmm": torch.addmm,
    "bmm": torch.bmm,
    "baddbmm": torch.baddbmm,
    "linear": linear,
}


def widen(tensor: Tensor) -> Tensor:
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    return tensor.to(wide)


def product(a: Tensor, b: Tensor) -> Tensor:
    return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2)


def expected_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none"
) -> Tensor:
    out = (x.unsqueeze(-2) * weight).sum(-1)
    return ACTIVATIONS[activation](out if bias is None else out + widen(bias))


def assert_close(
    result: Tensor, expected: Tensor, dtype: torch.dtype, depth: int, what: str = ""
) -> None:
    """Like a sum of `depth` products of numbers of about 1, rounded once to `dtype`."""
    assert result.dtype == dtype, f"{what}: {result.dtype}"
    epsilon = torch.finfo(dtype).eps
    accumulation = min(epsilon, torch.finfo(torch.float32).eps)
    torch.testing.assert_close(
        widen(result),
        expected,
        rtol=4 * epsilon,
        atol=4 * epsilon * math.sqrt(depth + 1) + accumulation * (depth + 16),
        equal_nan=True,
        msg=lambda text: f"{what}: {text}",
    )
