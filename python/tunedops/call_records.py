"""From what the compiled module noted of a call to the record that people read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch

from tunedops import _C
from tunedops.signature_call import Memory, SignatureCall, TensorFacts, Traffic

# As GemmPrecision in csrc/kernels/gemm/gemm_problem.h.
_ALLOWS_TF32 = 1


class Names(NamedTuple):
    """What an op calls the two that are multiplied, and what is added."""

    mat1: str
    mat2: str
    term: str | None = None


NAMES = {
    "mm": Names("input", "mat2"),
    "bmm": Names("input", "mat2"),
    "addmm": Names("mat1", "mat2", "input"),
    "baddbmm": Names("batch1", "batch2", "input"),
    "linear": Names("input", "weight", "bias"),
}


def record_of(op: str, slot: _C.CallSlot) -> SignatureCall | None:
    """The last call that a slot noted; None if none was."""
    facts = slot.facts()
    if facts is None:
        return None
    _, noted, (kind, index), has_out, beta, alpha, activation, precision, solution, tier = facts
    names = NAMES[op]
    by_name = {
        name: facts
        for name, facts in zip((names.mat1, names.mat2, names.term, "output"), noted, strict=True)
        if name is not None and facts is not None
    }
    tensors = {name: TensorFacts(shape, dtype) for name, (shape, _, dtype, *_) in by_name.items()}
    strides = {name: each[1] for name, each in by_name.items()}
    memory = {name: _memory_of(*each) for name, each in by_name.items()}
    scalars = {"beta": beta, "alpha": alpha} if op in ("addmm", "baddbmm") else {}
    is_in_place = has_out and names.term in memory and memory[names.term] == memory["output"]
    written = (names.term,) if is_in_place and names.term is not None else ()
    return SignatureCall(
        op=op,
        indices=MappingProxyType(_indices(op, names, tensors)),
        branch_key=_branch_key(op, names, tensors, strides, activation, is_in_place),
        device=torch.device(kind) if kind == "cpu" or index < 0 else torch.device(kind, index),
        tensors=MappingProxyType(tensors),
        traffic=_traffic(names, tensors, beta, is_in_place),
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
    op: str, names: Names, tensors: Mapping[str, TensorFacts]
) -> dict[str, int | torch.dtype]:
    left, right = tensors[names.mat1].shape, tensors[names.mat2].shape
    found: dict[str, int | torch.dtype] = {"B": left[0]} if op in ("bmm", "baddbmm") else {}
    found["M"] = math.prod(left[:-1]) if op == "linear" else left[-2]
    found["N"] = right[0] if op == "linear" else right[-1]
    found["K"] = left[-1]
    found["T"] = tensors[names.mat1].dtype
    return found


def _branch_key(
    op: str,
    names: Names,
    tensors: Mapping[str, TensorFacts],
    strides: Mapping[str, tuple[int, ...]],
    activation: str,
    is_in_place: bool,
) -> tuple[str, ...]:
    left = _letter(tensors[names.mat1].shape, strides[names.mat1])
    right = _letter(tensors[names.mat2].shape, strides[names.mat2])
    if op == "linear":  # which multiplies by the weight transposed
        right = "n" if right == "t" else "t"
    key = [left + right]
    if names.term is not None and names.term in tensors:
        key.append("bias" if len(tensors[names.term].shape) == 1 else "addend")
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
    names: Names, tensors: Mapping[str, TensorFacts], beta: float, is_in_place: bool
) -> tuple[Traffic, ...]:
    found = []
    for name in tensors:
        if name == "output":
            # One that is an input was counted there.
            found.append(Traffic(name, 0, 0 if is_in_place else 1))
        elif name == names.term:
            found.append(Traffic(name, int(beta != 0), int(is_in_place)))
        else:
            found.append(Traffic(name, 1, 0))
    return tuple(found)
