"""The arguments of a call as ``torch.profiler`` records them: shapes, types, strides, scalars.

What that leaves open is assumed, and each assumption is named.
"""

from __future__ import annotations

from typing import Any

import torch

from tunedops.described_call import ROLES
from tunedops.tensor_spec import TensorSpec
from tunedops.trace_events import OpEvent

_DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "c10::BFloat16": torch.bfloat16,
    "c10::Half": torch.float16,
    "c10::complex<float>": torch.complex64,
    "c10::complex<double>": torch.complex128,
}

# Torch's numbers of types, which the forms that are told the output's type have as a scalar.
_DTYPE_NUMBERS = {5: torch.float16, 6: torch.float32, 7: torch.float64, 15: torch.bfloat16}

STRIDES = "strides are not recorded: the operands count as contiguous"
SCALARS = "alpha and beta are not recorded: they count as 1"
ADDRESSES = "addresses are not recorded: operands count as aligned to 16 bytes"
THREADS = "the size of torch's thread pool is not recorded: it counts as {threads}, as it is here"
FLAGS = "torch's precision flags are not recorded: they count as they are here"
CONJUGATION = "whether operands are conjugated is not recorded: they count as if they were not"
ACTIVATION = "the activation of tunedops::linear is not recorded: it counts as none"


class RecordedCall:
    """The recorded arguments of one call of a product.

    Args:
        op: the call.
        name: the op that it is of.
        device: where it ran.

    Raises:
        ValueError, or what else follows from a record that is no such call.
    """

    def __init__(self, op: OpEvent, name: str, device: torch.device) -> None:
        #: What was assumed of it.
        self.assumed = {FLAGS, THREADS if device.type == "cpu" else ADDRESSES}
        self.specs: dict[str, TensorSpec] = {}
        self.extra: dict[str, Any] = {}
        types: list[str] = op.args["Input type"]
        tensors = [i for i, kind in enumerate(types) if kind in _DTYPES]
        names = self._names(name, types, tensors)
        for i, role in zip(tensors, names, strict=True):
            self.specs[role] = self._spec(op, i, device)
            if self.specs[role].dtype.is_complex:
                self.assumed.add(CONJUGATION)
        if name == "linear":
            self.extra["activation"] = "none"
            self.assumed.add(ACTIVATION)
        else:
            scalars = [self._scalar(op, i) for i, kind in enumerate(types) if kind == "Scalar"]
            self._read_scalars(name, scalars)

    def _names(self, name: str, types: list[str], tensors: list[int]) -> list[str]:
        if any(kind not in (*_DTYPES, "Scalar", "", "ScalarList") for kind in types):
            raise ValueError("a dtype that no kernel multiplies")
        roles = ROLES[name]
        if name == "linear":
            return ["input", "weight", "bias"][: len(tensors)]
        names = [role for role in roles if role]
        return names if len(tensors) == len(names) else [*names, "out"]

    def _spec(self, op: OpEvent, i: int, device: torch.device) -> TensorSpec:
        strides = op.args.get("Input Strides")
        shape = op.args["Input Dims"][i]
        step = strides[i] if isinstance(strides, list) and i < len(strides) else None
        if step is None or len(step) != len(shape):
            self.assumed.add(STRIDES)
            step = None
        return TensorSpec(shape, _DTYPES[op.args["Input type"][i]], step, device)

    def _scalar(self, op: OpEvent, i: int) -> str:
        concrete = op.args.get("Concrete Inputs")
        return str(concrete[i]) if isinstance(concrete, list) and i < len(concrete) else ""

    def _read_scalars(self, name: str, scalars: list[str]) -> None:
        if name == "_addmm_activation":
            self.extra["use_gelu"] = scalars.pop() == "True"
        expected = 0 if name in ("mm", "bmm") else 2
        if len(scalars) == expected + 1:
            self.extra["out_dtype"] = _DTYPE_NUMBERS[int(scalars.pop(0))]
        if expected == 0:
            return
        for role, text in zip(("beta", "alpha"), scalars, strict=True):
            if not text:
                self.assumed.add(SCALARS)
            self.extra[role] = _number(text) if text else 1


def _number(text: str) -> complex:
    """A scalar as the profiler prints it: ``1``, ``0.5``, ``2.``, ``True``."""
    if text in ("True", "False"):
        return int(text == "True")
    return float(text) if any(c in text for c in ".en") else int(text)
