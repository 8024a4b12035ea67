"""The plainest call that has a given key: files list keys, and people think in calls."""

from __future__ import annotations

from typing import Any

import torch

from tunedops import _C
from tunedops.bound_arguments import Argument
from tunedops.device import device_pair
from tunedops.tensor_spec import TensorSpec, contiguous_strides


def call_of_key(key: tuple[str, str], device: torch.device) -> tuple[str, dict[str, Argument]]:
    """The op and its arguments by name.

    The key must be a problem of the device. A product with an activation and scalars of its own,
    which no op of ours has, is ``_addmm_activation``.
    """
    found = _C.operands_of_key(device_pair(device), *key)
    specs: dict[str, TensorSpec] = {
        name: _spec(found[name], device)
        for name in ("mat1", "mat2", "out", "bias")
        if name in found
    }
    alpha, beta, activation = found["alpha"], found["beta"], found["activation"]
    op, arguments = _plainest(specs, alpha, beta, activation)
    out = specs["out"]
    is_fresh = out.strides == contiguous_strides(out.shape) and out.alignment == 16
    if not is_fresh or out.dtype != specs["mat1"].dtype:
        arguments["out"] = out
    return op, arguments


def _plainest(
    specs: dict[str, TensorSpec], alpha: float, beta: float, activation: str
) -> tuple[str, dict[str, Argument]]:
    mat1, mat2, bias = specs["mat1"], specs["mat2"], specs.get("bias")
    is_batched = len(mat1.shape) == 3
    is_plain = alpha == 1 and beta == 0
    if is_plain and not is_batched and (bias is not None or activation != "none"):
        layer: dict[str, Argument] = {"input": mat1, "weight": _transposed(mat2)}
        if bias is not None:
            layer["bias"] = bias
        return "linear", layer | {"activation": activation}
    if is_plain and bias is None and activation == "none":
        return ("bmm" if is_batched else "mm"), {"input": mat1, "mat2": mat2}
    names = ("batch1", "batch2") if is_batched else ("mat1", "mat2")
    addend = specs["out"] if bias is None else bias
    scalars: dict[str, Argument] = {"beta": beta if bias is None else 1, "alpha": alpha}
    arguments = {"input": addend, names[0]: mat1, names[1]: mat2} | scalars
    if activation != "none":
        return "_addmm_activation", arguments | {"activation": activation}
    return ("baddbmm" if is_batched else "addmm"), arguments


def _transposed(matrix: TensorSpec) -> TensorSpec:
    return TensorSpec(
        matrix.shape[::-1],
        matrix.dtype,
        matrix.strides[::-1],
        matrix.device,
        matrix.alignment,
        matrix.is_conjugated,
    )


def _spec(fields: Any, device: torch.device) -> TensorSpec:
    shape, strides, dtype, alignment, is_conjugated = fields
    return TensorSpec(shape, dtype, strides, device, alignment, is_conjugated)
