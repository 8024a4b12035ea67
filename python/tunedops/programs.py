"""What can be run in the place of a program: a function, a module, a graph, an exported one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


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
