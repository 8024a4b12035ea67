"""From what the compiled module noted of a call to the record that people read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import torch

from tunedops import _C
from tunedops.described_call import ROLES, Roles
from tunedops.signature_call import Memory, SignatureCall, TensorFacts, Traffic

# As GemmPrecision in csrc/kernels/gemm/gemm_problem.h.
_ALLOWS_TF32 = 1


def record_of(op: str, slot: _C.CallSlot) -> SignatureCall | None:
    """The last call that a slot noted; None if none was."""
    facts = slot.facts()
    if facts is None:
        return None
    noted, (kind, index), has_out, beta, alpha, activation, precision, solution, tier = facts
    roles = ROLES[op]
    by_name = {
        name: facts
        for name, facts in zip((roles.mat1, roles.mat2, roles.self, "output"), noted, strict=True)
        if facts is not None
    }
    tensors = {name: TensorFacts(shape, dtype) for name, (shape, _, dtype, *_) in by_name.items()}
    strides = {name: each[1] for name, each in by_name.items()}
    memory = {name: _memory_of(*each) for name, each in by_name.items()}
    scalars = {"beta": beta, "alpha": alpha} if op in ("addmm", "baddbmm") else {}
    is_in_place = has_out and roles.self in memory and memory[roles.self] == memory["output"]
    written = (roles.self,) if is_in_place else ()
    return SignatureCall(
        op=op,
        indices=MappingProxyType(_indices(op, roles, tensors)),
        branch_key=_branch_key(op, roles, tensors, strides, activation, is_in_place),
        device=torch.device(kind) if kind == "cpu" or index < 0 else torch.device(kind, index),
        tensors=MappingProxyType(tensors),
        traffic=_traffic(roles, tensors, beta, is_in_place),
        written=written,
        has_out=has_out,
        strides=MappingProxyType(strides),
        scalars=MappingProxyType(scalars),
        allows_tf32=bool(precision & _ALLOWS_TF32),
        solution=solution,
        tier=tier or None,
        memory=MappingProxyType(memory),
    )


def _memory_of(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: torch.dtype,
    storage: int,
    offset: int,
) -> Memory:
    steps = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    count = 0 if 0 in shape else steps + 1
    return Memory(storage, offset * dtype.itemsize, (offset + count) * dtype.itemsize)


def _indices(
    op: str, roles: Roles, tensors: Mapping[str, TensorFacts]
) -> dict[str, int | torch.dtype]:
    left, right = tensors[roles.mat1].shape, tensors[roles.mat2].shape
    found: dict[str, int | torch.dtype] = {"B": left[0]} if op in ("bmm", "baddbmm") else {}
    found["M"] = math.prod(left[:-1]) if op == "linear" else left[-2]
    found["N"] = right[0] if op == "linear" else right[-1]
    found["K"] = left[-1]
    found["T"] = tensors[roles.mat1].dtype
    return found


def _branch_key(
    op: str,
    roles: Roles,
    tensors: Mapping[str, TensorFacts],
    strides: Mapping[str, tuple[int, ...]],
    activation: str,
    is_in_place: bool,
) -> tuple[str, ...]:
    left = _letter(tensors[roles.mat1].shape, strides[roles.mat1])
    right = _letter(tensors[roles.mat2].shape, strides[roles.mat2])
    if op == "linear":  # which multiplies by the weight transposed
        right = "n" if right == "t" else "t"
    key = [left + right]
    if roles.self in tensors:
        key.append("bias" if len(tensors[roles.self].shape) == 1 else "addend")
    if activation != "none":
        key.append(activation)
    if is_in_place:
        key.append("in_place")
    return tuple(key)


def _letter(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """``t`` for a matrix whose columns are contiguous and whose rows are not."""
    if len(shape) < 2:
        return "n"
    return "t" if strides[-2] == 1 and strides[-1] != 1 else "n"


def _traffic(
    roles: Roles, tensors: Mapping[str, TensorFacts], beta: float, is_in_place: bool
) -> tuple[Traffic, ...]:
    found = []
    for name in tensors:
        if name == "output":
            # One that is an input was counted there.
            found.append(Traffic(name, 0, 0 if is_in_place else 1))
        elif name == roles.self:
            found.append(Traffic(name, int(beta != 0), int(is_in_place)))
        else:
            found.append(Traffic(name, 1, 0))
    return tuple(found)
