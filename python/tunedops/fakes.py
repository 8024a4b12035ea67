"""What the ops return for tensors without data: torch's own answer for the same product.

Written in Python because FakeTensor takes a C++ meta function only for static shapes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none"
) -> Tensor:
    """A layer by torch's own ops, as a program would write it.

    Raises:
        RuntimeError: the activation is unknown, or the shapes do not fit together.
    """
    if activation not in _ACTIVATIONS:
        raise RuntimeError(
            f"linear: activation must be one of {', '.join(_ACTIVATIONS)}, got '{activation}'"
        )
    return _ACTIVATIONS[activation](functional.linear(input, weight, bias))


def register() -> None:
    """Registers the fakes; once, at import."""
    for name in ("mm", "bmm", "addmm", "baddbmm"):
        aten = getattr(torch.ops.aten, name)
        torch.library.register_fake(f"tunedops::{name}", aten.default)
        torch.library.register_fake(f"tunedops::{name}.out", aten.out)
    torch.library.register_fake("tunedops::linear", linear)
