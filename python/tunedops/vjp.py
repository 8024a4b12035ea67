"""The products of a backward pass, as torch runs them.

Torch is asked, instead of repeating its formulas: the call runs on meta tensors, which have no
data and cost nothing, and what its backward multiplies is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tunedops.aten_calls import bind_call
from tunedops.bound_arguments import BoundArguments, NotTunableError
from tunedops.described_call import ROLES, meta_tensor
from tunedops.fakes import linear
from tunedops.tensor_spec import TensorSpec


def vjp_of(bound: BoundArguments) -> tuple[BoundArguments, ...]:
    """See :meth:`tunedops.BoundArguments.vjp`."""
    specs = [each for each in bound.arguments.values() if isinstance(each, TensorSpec)]
    # Torch has no formulas for an activation of its own or an output of another type.
    has_own_type = "out_dtype" in bound.arguments or len({spec.dtype for spec in specs}) > 1
    if bound.op not in _FORWARD or has_own_type:
        raise _no_formula(bound)
    no_autocast = torch.autocast(bound.device.type, enabled=False)
    with torch.inference_mode(False), torch.enable_grad(), no_autocast:
        leaves: dict[str, Tensor] = {}
        arguments: dict[str, Any] = {}
        alignments = _Alignments()
        for name, value in bound.named_arguments:
            if isinstance(value, TensorSpec) and name != "out":
                leaves[name] = meta_tensor(value).detach().requires_grad_()
                alignments.remember(leaves[name], value.alignment)
                arguments[name] = leaves[name]
            elif name != "out":
                arguments[name] = value
        y = _FORWARD[bound.op](arguments)
        gradient = torch.empty(y.shape, dtype=y.dtype, device="meta")
        recorder = _Recorder(bound, alignments)
        for leaf in _multiplied(bound.op, leaves):
            with recorder:
                torch.autograd.grad(y, leaf, gradient, retain_graph=True, allow_unused=True)
    return tuple(recorder.found)


def _no_formula(bound: BoundArguments) -> NotTunableError:
    return NotTunableError(f"{bound}: torch has no formula for its gradient")


class _Alignments:
    """How the memory of described tensors is aligned; meta tensors do not say."""

    def __init__(self) -> None:
        self._of_storage: dict[int, int] = {}

    def remember(self, tensor: Tensor, alignment: int) -> None:
        self._of_storage[tensor.untyped_storage()._cdata] = alignment

    def describe(self, tensor: Tensor) -> TensorSpec:
        spec = TensorSpec.of(tensor)
        known = self._of_storage.get(tensor.untyped_storage()._cdata, 16)
        return TensorSpec(spec.shape, spec.dtype, spec.strides, "meta", known, spec.is_conjugated)


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch says no types
    """Binds the products that pass."""

    def __init__(self, forward: BoundArguments, alignments: _Alignments) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[BoundArguments] = []
        self._forward = forward
        self._alignments = alignments

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        product = bind_call(
            func,
            args,
            kwargs or {},
            spec_of=self._alignments.describe,
            device=self._forward.device,
            like=self._forward.key,
        )
        if product is not None:
            self.found.append(product)
        return func(*args, **(kwargs or {}))


def _multiplied(op: str, leaves: Mapping[str, Tensor]) -> list[Tensor]:
    """The two that are multiplied. The gradient of what is added is no product."""
    return [leaf for name, leaf in leaves.items() if name != ROLES[op].self]


def _sum_of(function: Callable[..., Tensor]) -> Callable[[dict[str, Any]], Tensor]:
    def call(arguments: dict[str, Any]) -> Tensor:
        scalars = {name: arguments.pop(name) for name in ("beta", "alpha") if name in arguments}
        return function(*arguments.values(), **scalars)

    return call


_FORWARD: dict[str, Callable[[dict[str, Any]], Tensor]] = {
    "mm": _sum_of(torch.mm),
    "bmm": _sum_of(torch.bmm),
    "addmm": _sum_of(torch.addmm),
    "baddbmm": _sum_of(torch.baddbmm),
    "addmv": _sum_of(torch.addmv),
    "linear": lambda arguments: linear(**arguments),
}
