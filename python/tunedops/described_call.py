"""A call as the compiled module takes it, and what it says of it: its problem.

Whoever binds comes by here: the ops, a recorder of a program, a reader of traces or of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from tunedops import _C
from tunedops.bound_arguments import Argument, BoundArguments
from tunedops.device import device_pair
from tunedops.tensor_spec import TensorSpec

TensorLike: TypeAlias = "Tensor | TensorSpec"

# A tensor as the compiled module takes it: itself if it is there, or its description.
Given: TypeAlias = "Tensor | tuple[Any, ...]"

# Beyond these a subclass decides itself what a product is.
_PLAIN_TYPES = (Tensor, torch.nn.Parameter)


class Roles(NamedTuple):
    """The names of a call's operands by what they do."""

    self: str
    """What is added, the bias or the addend; empty for an op that adds nothing."""
    mat1: str
    mat2: str


ROLES = {
    "mm": Roles("", "input", "mat2"),
    "bmm": Roles("", "input", "mat2"),
    "addmm": Roles("input", "mat1", "mat2"),
    "baddbmm": Roles("input", "batch1", "batch2"),
    "linear": Roles("bias", "input", "weight"),
    "addmv": Roles("input", "mat", "vec"),
    "_addmm_activation": Roles("input", "mat1", "mat2"),
}
"""Of each op that a problem can be of."""

SCALARS = ("beta", "alpha", "activation", "use_gelu", "out_dtype")
"""What ops are told besides their operands."""


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
        given.get(roles.self),
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
    out = specs.get(roles.self) if in_place else specs.get("out")
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


def given_as(tensor: TensorLike, spec: TensorSpec) -> Given:
    """A tensor as the compiled module takes it."""
    if isinstance(tensor, TensorSpec):
        return operand_of(spec)
    is_there = (
        type(tensor) in _PLAIN_TYPES
        and tensor.device == spec.device
        and tensor.dtype == spec.dtype  # else it is cast
        and not tensor.is_neg()  # else it is copied
        and tensor.is_conj() == spec.is_conjugated
    )
    return tensor if is_there else operand_of(spec)
