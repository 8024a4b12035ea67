"""Finding the tunable problems of a function: it runs once, and each product is noted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

from tunedops import _C
from tunedops.aten_calls import bind_call, product_name
from tunedops.bound_arguments import BoundArguments
from tunedops.overlay import begin, end


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
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


def record(
    function: Callable[..., object],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    device: torch.device | None = None,
) -> tuple[BoundArguments, ...]:
    """The problems that ``function(*args, **kwargs)`` has, in the order in which they come.

    It runs once, by torch's own kernels, and nothing is tuned meanwhile.

    Args:
        device: of the problems; None: where their operands are.
    """
    recorder = _Recorder(device)
    block = begin(_C.forced_overlay("Default"))
    try:
        with recorder:
            function(*args, **kwargs)
    finally:
        end(block)
    return tuple(recorder.found)


def callable_of(
    f: object, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Callable[..., object], Sequence[Any], Mapping[str, Any]]:
    """What to run for a function, a module, a graph or an exported program.

    A graph or a program that is given no arguments gets the ones it was traced with, as fake
    tensors.

    Raises:
        TypeError: it is none of these.
        ValueError: no arguments are given, and the graph does not say what it takes.
    """
    graph = f
    if isinstance(f, torch.export.ExportedProgram):
        graph = f.graph_module
        if args or kwargs:
            return f.module(), args, kwargs
    elif not callable(f):
        raise TypeError(
            "autotune: f must be a function, an nn.Module, a GraphModule, an ExportedProgram or a "
            f"sequence of BoundArguments, got {type(f).__name__}"
        )
    if isinstance(graph, torch.fx.GraphModule) and not args and not kwargs:
        return _run_as_traced(graph), (), {}
    return f, args, kwargs


def _run_as_traced(graph: torch.fx.GraphModule) -> Callable[[], object]:
    inputs = []
    for node in graph.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val", node.meta.get("example_value"))
        if value is None:
            raise ValueError(
                f"autotune: the graph does not say what its input '{node.name}' is; give the "
                "arguments that it is called with"
            )
        inputs.append(value)
    fakes = [value for value in inputs if isinstance(value, Tensor)]
    mode = getattr(fakes[0], "fake_mode", None) if fakes else None

    def run() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if mode is None:
                return torch.fx.Interpreter(graph).run(*inputs)
            with mode:
                return torch.fx.Interpreter(graph).run(*inputs)

    return run
