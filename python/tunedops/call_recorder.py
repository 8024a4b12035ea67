"""Finding the problems of a function that computes nothing.

Fake and meta tensors never reach a device's kernels, where products are routed, so their calls
are seen above those: below autograd, as torch's own tools see them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

from tunedops.aten_calls import bind_call, product_name
from tunedops.bound_arguments import BoundArguments


class CallRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the products below autograd, forward and backward."""

    supports_higher_order_operators = True

    def __init__(self, device: torch.device | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: dict[BoundArguments, None] = {}
        self._device = device

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload | HigherOrderOperator,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):  # torch.cond and its kin
            return func(*(self._seen(each) for each in args), **kwargs)
        if any(_unfolds(each) for each in types):
            return NotImplemented
        if product_name(func) is None and _is_composite(func):
            with self:
                return func.decompose(*args, **kwargs)
        bound = bind_call(func, args, kwargs, device=self._device)
        if bound is not None:
            self.found.setdefault(bound)
        return func(*args, **kwargs)

    def _seen(self, value: Any) -> Any:
        """A function whose ops are noted; anything else as it is."""
        if not callable(value) or isinstance(value, Tensor):
            return value

        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return value(*args, **kwargs)

        return run


def _is_composite(func: torch._ops.OpOverload) -> bool:
    """Whether an op is a function of other ops. Under inference mode it arrives whole."""
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    return func.namespace == "aten" and func.has_kernel_for_dispatch_key(composite)


def _unfolds(kind: type) -> bool:
    """Whether tensors of a class say themselves what their ops are made of."""
    has_its_own = getattr(kind, "__torch_dispatch__", None) is not Tensor.__torch_dispatch__
    return has_its_own and not issubclass(kind, FakeTensor)
