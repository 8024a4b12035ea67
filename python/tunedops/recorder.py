"""Finding the tunable problems of a function: it runs once, and each product is noted.

Of real tensors, the compiled context notes them where products are routed, under an overlay of
its own: so what is found is what a run asks for, whatever stands around it (composites, fused
layers, compiled functions, a backward pass on autograd's threads).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch._C import _TorchDispatchModeKey
from torch._subclasses import FakeTensor
from torch.utils import _pytree as pytree

from tunedops import _C
from tunedops.bound_arguments import BoundArguments
from tunedops.call_recorder import CallRecorder
from tunedops.overlay import begin, end, laid


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
    if device is not None or _computes_nothing(function, args, kwargs):
        recorder = CallRecorder(device)
        with laid(_C.forced_overlay("Default")), recorder:
            function(*args, **kwargs)
        return tuple(recorder.found)
    overlay = _C.record_overlay()
    try:
        block = begin(overlay, even_if_off=True)
        try:
            function(*args, **kwargs)
        finally:
            end(block)
    finally:
        noted = _C.end_record_overlay(overlay)
    return tuple(BoundArguments.from_key(op, params, _device(place)) for place, op, params in noted)


def _device(place: tuple[str, int]) -> torch.device:
    kind, index = place
    return torch.device(kind) if kind == "cpu" else torch.device(kind, index)


def _computes_nothing(
    function: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> bool:
    """Whether the tensors that a function works on are only descriptions."""
    if torch._C._get_dispatch_mode(_TorchDispatchModeKey.FAKE) is not None:
        return True
    return any(
        tensor.is_meta or isinstance(tensor, FakeTensor)
        for value in (*pytree.tree_leaves((args, kwargs)), *_held_by(function))
        for tensor in _tensors_of(value)
    )


def _held_by(function: object) -> Iterator[Any]:
    """What a function brings along: itself (a module), its `self`, its closure."""
    yield function
    if isinstance(function, functools.partial):
        yield from pytree.tree_leaves((function.args, function.keywords))
        yield from _held_by(function.func)
    yield getattr(function, "__self__", None)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield from pytree.tree_leaves(cell.cell_contents)
        except ValueError:  # not filled yet
            continue


def _tensors_of(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
