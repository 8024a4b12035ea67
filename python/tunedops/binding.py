"""From the arguments of a call to its problem, without running it.

Tensors that are there go to the compiled module as they are, so that it sees what a run would
see; all others as descriptions. It checks them in the words of a run and works out the key with
the run's own code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from tunedops.bound_arguments import BoundArguments, NotTunableError
from tunedops.described_call import (
    ROLES,
    Given,
    TensorLike,
    at,
    given_as,
    meta_tensor,
    operand_of,
    work_out,
)
from tunedops.device import described_device
from tunedops.tensor_spec import TensorSpec, resolved


def bind_op(
    op: str,
    operands: Mapping[str, TensorLike | None],
    *,
    device: str | torch.device | None,
    out: TensorLike | None = None,
    scalars: Mapping[str, complex] | None = None,
    activation: str | None = None,
    original: Callable[..., object],
) -> BoundArguments:
    """A call of one of our ops, bound.

    Args:
        op: its name.
        operands: by the names of its signature, in its order.
        device: where the problem is; None: where the operands are.
        out: the output, if it exists; the same object as an operand means in place.
        scalars: ``beta`` and ``alpha``, for the ops that have them.
        activation: for the op that has one.
        original: torch's op of the same meaning, which says what is wrong with arguments that
            we leave to it.

    Raises:
        TypeError: an operand is no tensor.
        RuntimeError: what a run would say of the arguments.
        NotTunableError: only torch's own kernel can compute it.
    """
    tensors = {name: tensor for name, tensor in operands.items() if tensor is not None}
    if out is not None:
        tensors["out"] = out
    for name, tensor in tensors.items():
        if not isinstance(tensor, (Tensor, TensorSpec)):
            raise TypeError(
                f"{op}: {name} must be a torch.Tensor or a TensorSpec, got {type(tensor).__name__}"
            )
    place = _place_of(op, tensors, device)
    specs = {name: _spec_at(op, name, tensor, place, device) for name, tensor in tensors.items()}
    if out is None:
        specs = {name: _autocast(spec) for name, spec in specs.items()}
    given: dict[str, Given] = {}
    for name, tensor in tensors.items():
        is_moved = device is not None
        given[name] = operand_of(specs[name]) if is_moved else given_as(tensor, specs[name])
        if tensor is out:
            given["out"] = given[name]  # of the operand too, for which this is in place
    extra: dict[str, Any] = {name: _number(op, name, v) for name, v in (scalars or {}).items()}
    if activation is not None:
        extra["activation"] = activation
    bound = work_out(op, ROLES[op], specs, given, place, extra, is_checked=True)
    if isinstance(bound, str):
        _complain(original, operands, specs, extra)
        raise NotTunableError(f"{op}: only torch's own kernel can compute this: {bound}")
    return bound


def _place_of(
    op: str, tensors: Mapping[str, TensorLike], device: str | torch.device | None
) -> torch.device:
    if device is not None:
        place = described_device(f"{op}.bind", device)
        if place.type != "meta":
            return place
        raise ValueError(f"{op}.bind: device must be cpu or cuda, got 'meta'")
    for name, tensor in tensors.items():
        if tensor.device.type != "meta":
            return _known_place(op, name, tensor.device)
    default = torch.get_default_device()
    return torch.device("cpu") if default.type == "meta" else _known_place(op, "it", default)


def _known_place(op: str, name: str, device: torch.device) -> torch.device:
    if device.type not in ("cpu", "cuda"):
        raise NotTunableError(
            f"{op}: only torch's own kernel can compute this: {name} is on '{device}', for which "
            "tunedops has no backend"
        )
    return described_device(op, device)


def _spec_at(
    op: str,
    name: str,
    tensor: TensorLike,
    place: torch.device,
    device: str | torch.device | None,
) -> TensorSpec:
    if isinstance(tensor, TensorSpec):
        spec = tensor
    elif tensor.layout != torch.strided:
        raise NotTunableError(
            f"{op}: only torch's own kernel can compute this: {name} has the layout {tensor.layout}"
        )
    else:
        _known_place(op, name, place if tensor.is_meta else tensor.device)
        spec = TensorSpec.of(tensor)
    return at(spec, place) if device is not None or spec.device.type == "meta" else spec


def _autocast(spec: TensorSpec) -> TensorSpec:
    """What autocast, if it is on, makes of an operand before the op sees it."""
    if not torch.is_autocast_enabled(spec.device.type):
        return spec
    dtype = torch.get_autocast_dtype(spec.device.type)
    is_cast = spec.dtype.is_floating_point and spec.dtype not in (torch.float64, dtype)
    return resolved(spec, dtype) if is_cast else spec


def _number(op: str, name: str, value: object) -> complex:
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_meta:
        value = value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"{op}: {name} must be a number, got {type(value).__name__}")
    return value


def _complain(
    original: Callable[..., object],
    operands: Mapping[str, TensorLike | None],
    specs: Mapping[str, TensorSpec],
    extra: Mapping[str, Any],
) -> None:
    """Lets torch say, in its own words, what is wrong with arguments, if anything is."""
    arguments = [meta_tensor(specs[name]) if name in specs else None for name in operands]
    keywords = {name: value for name, value in extra.items() if name != "activation"}
    if "out" in specs:
        keywords["out"] = meta_tensor(specs["out"])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that out is resized, for one: nothing runs
        original(*arguments, **keywords)
