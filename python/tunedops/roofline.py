"""What a call costs at the least: operations, bytes, and the unit that would compute it best.

``bytes`` is what any implementation has to move: each input that is read once, each output once,
nothing in between. Inputs that share memory count once.
"""

from __future__ import annotations

import math

import torch

from tunedops.signature_call import SignatureCall

DEFAULT_ROOF = "cuda_core.fp32"

_SHORT_NAMES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.bfloat16: "bf16",
    torch.float16: "fp16",
    torch.complex64: "fp32",
    torch.complex128: "fp64",
}


def product_flops(call: SignatureCall) -> int:
    """Multiplications and additions of a product, with what is added to it.

    An activation is none of these units' work and does not count. A complex multiplication is
    four and two, an addition two.
    """
    lengths = {letter: n for letter, n in call.indices.items() if isinstance(n, int)}
    multiply_adds = math.prod(lengths.values())
    elements = math.prod(n for letter, n in lengths.items() if letter != "K")
    beta, alpha = call.scalars.get("beta", 1.0), call.scalars.get("alpha", 1.0)
    has_term = any(part in ("bias", "addend") for part in call.branch_key) and beta != 0
    extra = elements * (has_term + (has_term and beta != 1) + (alpha != 1))
    is_complex = _type_of(call).is_complex
    return 8 * multiply_adds + 2 * extra if is_complex else 2 * multiply_adds + extra


def traffic_bytes(call: SignatureCall) -> tuple[int, int]:
    """Bytes read and bytes written."""
    read = sum(_distinct_reads(call).values())
    written = sum(t.writes * _size(call, t.tensor) for t in call.traffic)
    return read, written


def roof_of_product(call: SignatureCall) -> str:
    """The unit that an optimal implementation of a product would use, never the one that ran."""
    name = _SHORT_NAMES.get(_type_of(call))
    if name is None:
        return DEFAULT_ROOF
    if call.device.type == "cpu":
        return f"cpu.{name}"
    if name == "fp32":
        return "tensor_core.tf32" if call.allows_tf32 else DEFAULT_ROOF
    return f"tensor_core.{name}"


def _type_of(call: SignatureCall) -> torch.dtype:
    dtype = call.indices["T"]
    assert isinstance(dtype, torch.dtype)
    return dtype


def _distinct_reads(call: SignatureCall) -> dict[str, int]:
    """Bytes of each input that is read; of those that overlap the largest counts."""
    counted: dict[str, int] = {}
    for name, size in sorted(
        ((t.tensor, _size(call, t.tensor)) for t in call.traffic if t.reads),
        key=lambda each: -each[1],
    ):
        if not any(call.memory[name].overlaps(call.memory[other]) for other in counted):
            counted[name] = size
    return counted


def _size(call: SignatureCall, name: str) -> int:
    """Bytes of a tensor; what is expanded over a dimension is there once."""
    facts = call.tensors[name]
    there = (
        n for n, step in zip(facts.shape, call.strides[name], strict=True) if step != 0 or n == 0
    )
    return math.prod(there) * facts.dtype.itemsize
