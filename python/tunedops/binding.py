"""From the arguments of a call to its problem, without running it.

Tensors that are there go to the compiled module as they are, so that it sees what a run would
see; all others as descriptions. It checks them in the words of a run and works out the key with
the run's own code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from tunedops import _C
from tunedops.bound_arguments import Argument, BoundArguments, NotTunableError
from tunedops.device import described_device, device_pair
from tunedops.tensor_spec import TensorSpec, resolved

TensorLike: TypeAlias = "Tensor | TensorSpec"

# A tensor as the compiled module takes it: itself if it is there, or its description.
Given: TypeAlias = "Tensor | tuple[Any, ...] | None"

# Beyond these a subclass decides itself what a product is.
_PLAIN_TYPES = (Tensor, torch.nn.Parameter)


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
    given: dict[str, Given] = {
        name: operand_of(specs[name]) if device is not None else given_as(tensors[name], specs[name])
        for name in tensors
    }
    for name, tensor in operands.items():
        if tensor is not None and tensor is out:
            given["out"] = given[name]
    extra: dict[str, Any] = {name: _number(op, name, v) for name, v in (scalars or {}).items()}
    if activation is not None:
        extra["activation"] = activation
    bound = work_out(op, ROLES[op], specs, given, place, extra, is_checked=True)
    if isinstance(bound, str):
        _complain(original, operands, specs, extra)
        raise NotTunableError(f"{op}: only torch's own kernel can compute this: {bound}")
    return bound


class Roles(NamedTuple):
    """The names of a call's operands by what they do."""

    self: str | None
    """What is added: the bias or the addend."""
    mat1: str
    mat2: str


ROLES = {
    "mm": Roles(None, "input", "mat2"),
    "bmm": Roles(None, "input", "mat2"),
    "addmm": Roles("input", "mat1", "mat2"),
    "baddbmm": Roles("input", "batch1", "batch2"),
    "linear": Roles("bias", "input", "weight"),
    "addmv": Roles("input", "mat", "vec"),
    "_addmm_activation": Roles("input", "mat1", "mat2"),
}
"""Of each op that a problem can be of."""


def work_out(
    op: str,
    roles: Roles,
    specs: Mapping[str, TensorSpec],
    given: Mapping[str, Given],
    place: torch.device,
    extra: Mapping[str, Any],
    *,
    is_checked: bool = False,
    in_place: bool = False,
    like: tuple[str, str] | None = None,
) -> BoundArguments | str:
    """The problem of a call, or why only torch's own kernel can compute it.

    Args:
        op: its name.
        roles: what its operands do.
        specs: the operands as they are described, with ``out`` if it exists.
        given: the same as the compiled module takes them.
        place: where the problem is.
        extra: scalars, activation and the type of the output, as far as the op has them.
        is_checked: by us, as the ops of ``torch.ops.tunedops`` check their arguments.
        in_place: the output is what is added to.
        like: a key whose precision flags and threads count in place of those of now.
    """
    key = _C.bind_call(
        op,
        is_checked,
        given.get(roles.self or ""),
        given[roles.mat1],
        given[roles.mat2],
        given.get("out"),
        in_place=in_place,
        like=like,
        **extra,
    )
    if isinstance(key, str):
        return key
    arguments: dict[str, Argument] = {
        name: specs[name] for name in (roles.self, roles.mat1, roles.mat2) if name in specs
    }
    if op == "linear" and "bias" in arguments:
        arguments["bias"] = arguments.pop("bias")  # as the signature has it
    arguments |= extra
    out = specs.get(roles.self or "") if in_place else specs.get("out")
    if out is not None:
        arguments["out"] = out
    return BoundArguments(op, place, key, tuple(arguments.items()))


def operand_of(spec: TensorSpec) -> tuple[Any, ...]:
    """A described tensor as the compiled module takes it."""
    return (
        spec.shape,
        spec.strides,
        spec.dtype,
        device_pair(spec.device),
        spec.alignment,
        spec.is_conjugated,
    )


def at(spec: TensorSpec, place: torch.device) -> TensorSpec:
    """The same on another device."""
    if spec.device == place:
        return spec
    return TensorSpec(
        spec.shape, spec.dtype, spec.strides, place, spec.alignment, spec.is_conjugated
    )


def meta_tensor(spec: TensorSpec) -> Tensor:
    """A tensor without memory that is as described."""
    tensor = torch.empty_strided(spec.shape, spec.strides, dtype=spec.dtype, device="meta")
    return tensor.conj() if spec.is_conjugated else tensor


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
            f"{op}: only torch's own kernel can compute this: {name} has the layout "
            f"{tensor.layout}"
        )
    else:
        _known_place(op, name, place if tensor.is_meta else tensor.device)
        spec = TensorSpec.of(tensor)
    return at(spec, place) if device is not None or spec.device.type == "meta" else spec


def given_as(tensor: TensorLike, spec: TensorSpec) -> Given:
    """A tensor as the compiled module takes it."""
    is_there = (
        type(tensor) in _PLAIN_TYPES
        and tensor.device == spec.device
        and tensor.dtype == spec.dtype  # else it is cast
        and not tensor.is_neg()  # else it is copied
        and tensor.is_conj() == spec.is_conjugated
    )
    return tensor if is_there else operand_of(spec)


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
