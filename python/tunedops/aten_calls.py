"""Which calls of the dispatcher's ops are products that we can tune, and the problem of each.

For whoever sees a program's calls one by one: a recorder (a ``TorchDispatchMode``), or the
backward pass of one call. A call here is what such a recorder gets: an overload of aten or of
``torch.ops.tunedops``, and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tunedops.bound_arguments import BoundArguments
from tunedops.described_call import SCALARS, Roles, at, given_as, operand_of, work_out
from tunedops.tensor_spec import TensorSpec, resolved

# The operands of each op in their roles: what is added, and the two that are multiplied.
_ROLES: dict[str, Roles] = {
    "mm": Roles("", "self", "mat2"),
    "bmm": Roles("", "self", "mat2"),
    "addmm": Roles("self", "mat1", "mat2"),
    "baddbmm": Roles("self", "batch1", "batch2"),
    "addmv": Roles("self", "mat", "vec"),
    "mv": Roles("", "mat", "vec"),
    "_addmm_activation": Roles("self", "mat1", "mat2"),
    "linear": Roles("bias", "input", "weight"),
}

_OTHER_NAMES = {("aten::mv", "self"): "mat"}

# Where torch's schemas say `self`, ours and torch.mm's documentation say `input`.
_PUBLIC_NAMES = {"self": "input"}

# For these torch copies a conjugated operand before a kernel sees it.
_RESOLVED = ("addmv", "mv", "_addmm_activation")


def product_name(func: torch._ops.OpOverload) -> str | None:
    """The op that a call is of (``addmm`` for ``aten.addmm_.default``), None for no product.

    ``aten.linear`` is none: it arrives at ``addmm`` or ``mm``.
    """
    namespace, _, name = func._schema.name.partition("::")
    name = name.removesuffix("_")
    if name not in _ROLES or (namespace == "aten" and name == "linear"):
        return None
    return name if namespace in ("aten", "tunedops") else None


def bind_call(
    func: torch._ops.OpOverload,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    spec_of: Callable[[Tensor], TensorSpec] = TensorSpec.of,
    device: torch.device | None = None,
    like: tuple[str, str] | None = None,
) -> BoundArguments | None:
    """The problem of a call that torch accepts; it does not run.

    Args:
        func: the overload that is called.
        args: its positional arguments.
        kwargs: its keyword arguments.
        spec_of: describes a tensor.
        device: where the problem is; None: where the operands are (meta ones: on the CPU).
        like: a key whose precision flags and threads count in place of those of now.

    Returns:
        None if the call is no product, or one that only torch's own kernel can compute.
    """
    op = product_name(func)
    if op is None:
        return None
    values = _by_name(func, args, kwargs)
    roles = _ROLES[op]
    tensors = {name: values[name] for name in (*roles, "out") if values.get(name) is not None}
    if any(tensor.layout != torch.strided for tensor in tensors.values()):
        return None
    place = device or tensors[roles.mat1].device
    if place.type == "meta":
        place = torch.device("cpu")
    if place.type not in ("cpu", "cuda"):
        return None
    specs = {name: at(spec_of(tensor), place) for name, tensor in tensors.items()}
    if op in _RESOLVED:
        specs = {n: resolved(spec) if spec.is_conjugated else spec for n, spec in specs.items()}
    given = {name: given_as(tensor, specs[name]) for name, tensor in tensors.items()}
    addend = values.get(roles.self)
    if addend is not None and values.get("out") is addend:
        given["out"] = given[roles.self]
    if op == "mv":  # a fresh output that addmv_ writes, without reading it
        op, roles = "addmv", _ROLES["addmv"]
        specs["self"] = TensorSpec(specs["mat"].shape[:1], specs["mat"].dtype, device=place)
        given["self"] = operand_of(specs["self"])
        values |= {"beta": 0, "alpha": 1}
    bound = work_out(
        op,
        roles,
        specs,
        given,
        place,
        {name: values[name] for name in SCALARS if values.get(name) is not None},
        is_checked=func.namespace == "tunedops",
        in_place=func._schema.name.endswith("_"),
        like=like,
    )
    return None if isinstance(bound, str) else _in_public_names(bound)


def _by_name(
    func: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    parameters = func._schema.arguments
    values = {p.name: p.default_value for p in parameters if p.has_default_value()}
    values |= {p.name: value for p, value in zip(parameters, args, strict=False)}
    values |= kwargs
    # aten.mv calls mat what it multiplies.
    return {_OTHER_NAMES.get((func._schema.name, name), name): v for name, v in values.items()}


def _in_public_names(bound: BoundArguments) -> BoundArguments:
    named = tuple((_PUBLIC_NAMES.get(name, name), v) for name, v in bound.named_arguments)
    return BoundArguments(bound.op, bound.device, bound.key, named)
