"""One argument of a call as JSON has it: tensors as objects, types by their names."""

from __future__ import annotations

from typing import Any

import torch

from tunedops.bound_arguments import Argument
from tunedops.tensor_spec import TensorSpec


def value_of(argument: Argument) -> Any:
    """What JSON holds for an argument."""
    if isinstance(argument, torch.dtype):
        return _name_of(argument)
    if not isinstance(argument, TensorSpec):
        return argument
    value: dict[str, Any] = {
        "shape": list(argument.shape),
        "strides": list(argument.strides),
        "dtype": _name_of(argument.dtype),
        "alignment": argument.alignment,
    }
    return value | ({"is_conjugated": True} if argument.is_conjugated else {})


def argument_of(name: str, value: Any, device: torch.device) -> Argument:
    """The argument that a value of JSON stands for; tensors are on the device.

    Raises:
        ValueError: it stands for none, or a part of it lacks.
        TypeError: a part of it is of another type.
    """
    if isinstance(value, dict):
        if not isinstance(value.get("shape"), list):
            raise ValueError(f"expected a 'shape' of '{name}', got {kind_of(value.get('shape'))}")
        return TensorSpec(
            value["shape"],
            _dtype_of(value.get("dtype")),
            value.get("strides"),
            device,
            value.get("alignment", 16),
            value.get("is_conjugated", False),
        )
    if name == "out_dtype":
        return _dtype_of(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"expected a tensor, a number or text as '{name}', got {kind_of(value)}")


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _dtype_of(name: Any) -> torch.dtype:
    dtype = getattr(torch, name, None) if isinstance(name, str) else None
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"expected the name of a dtype such as 'float32', got {name!r}")
    return dtype


def kind_of(value: Any) -> str:
    """What a value of JSON is, for messages."""
    names = {dict: "an object", list: "a list", str: "text", type(None): "nothing"}
    return names.get(type(value), "a number")
