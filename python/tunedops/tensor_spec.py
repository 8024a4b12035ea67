"""Tensors that are described and need not be there.

Which kernel is right for a product depends on how its operands lie in memory, not on what is
in them. So whoever wants to name a problem without running it describes the operands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from tunedops.device import described_device

ALIGNMENTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, init=False)
class TensorSpec:
    """How a tensor lies in memory.

    Args:
        shape: sizes of the dimensions.
        dtype: of the elements.
        strides: elements between neighbours of each dimension (default: contiguous).
        device: where; a GPU need not be here, and ``"meta"`` leaves it open. ``cuda`` without
            an index is the current GPU of a program that uses one, else ``cuda:0``.
        alignment: bytes, the largest power of two up to 16 that divides the address of the
            first element. Only keys of GPUs depend on it.
        is_conjugated: whether it is a lazily conjugated view, as ``Tensor.conj`` makes.

    Raises:
        TypeError: an argument has another type.
        ValueError: a size or stride is negative, there are not as many strides as sizes, the
            alignment is none of 1, 2, 4, 8, 16, or the device is neither a CPU nor a GPU.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    strides: tuple[int, ...]
    device: torch.device
    alignment: int
    is_conjugated: bool

    def __init__(
        self,
        shape: Iterable[int],
        dtype: torch.dtype,
        strides: Iterable[int] | None = None,
        device: str | torch.device = "cpu",
        alignment: int = 16,
        is_conjugated: bool = False,
    ) -> None:
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"TensorSpec: dtype must be a torch.dtype, got {type(dtype).__name__}")
        sizes = _numbers("shape", shape)
        steps = contiguous_strides(sizes) if strides is None else _numbers("strides", strides)
        if len(steps) != len(sizes):
            raise ValueError(
                f"TensorSpec: strides must have one number for each of {len(sizes)} dimensions, "
                f"got {list(steps)}"
            )
        if alignment not in ALIGNMENTS:
            raise ValueError(
                f"TensorSpec: alignment must be 1, 2, 4, 8 or 16 bytes, got {alignment}"
            )
        values = {
            "shape": sizes,
            "dtype": dtype,
            "strides": steps,
            "device": described_device("TensorSpec", device),
            "alignment": alignment,
            "is_conjugated": bool(is_conjugated),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, tensor: Tensor) -> TensorSpec:
        """What a tensor is.

        Of a tensor with memory the alignment is that of its address. Meta and fake tensors
        have none; they count as aligned to 16 bytes, which is what torch's allocators give. A
        lazily negated view counts as what torch makes of it before it multiplies: a copy.

        Raises:
            TypeError: it is no tensor.
            ValueError: its layout is not strided, or a size is a symbol that has no value yet.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(f"TensorSpec.of: expected a torch.Tensor, got {type(tensor).__name__}")
        if tensor.layout != torch.strided:
            raise ValueError(
                f"TensorSpec.of: expected a strided tensor, got one of layout {tensor.layout}"
            )
        shape = _numbers("shape", tensor.shape)
        strides = _numbers("strides", tensor.stride())
        if tensor.is_neg():
            return resolved(cls(shape, tensor.dtype, strides, tensor.device))
        return cls(
            shape, tensor.dtype, strides, tensor.device, _alignment_of(tensor), tensor.is_conj()
        )

    @property
    def is_contiguous(self) -> bool:
        """Whether rows follow each other without gaps."""
        return all(
            size == 1 or stride == expected
            for size, stride, expected in zip(
                self.shape, self.strides, contiguous_strides(self.shape), strict=True
            )
        )

    def __str__(self) -> str:
        """``float32[4, 64]``, and what is not as of a fresh contiguous tensor."""
        text = f"{str(self.dtype).removeprefix('torch.')}{list(self.shape)}"
        if not self.is_contiguous:
            text += f" strides {list(self.strides)}"
        if self.alignment != 16:
            text += f" align {self.alignment}"
        return text + (" conj" if self.is_conjugated else "")


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of rows that follow each other without gaps, as torch counts them."""
    return tuple(math.prod(max(size, 1) for size in shape[i + 1 :]) for i in range(len(shape)))


def resolved(spec: TensorSpec, dtype: torch.dtype | None = None) -> TensorSpec:
    """The copy that torch makes of a tensor to conjugate, negate or cast it."""
    like = torch.empty_strided(spec.shape, spec.strides, dtype=spec.dtype, device="meta")
    copy = like.to(dtype or spec.dtype, copy=True)
    return TensorSpec(spec.shape, copy.dtype, copy.stride(), spec.device)


def _numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    numbers = []
    for value in values:
        if isinstance(value, torch.SymInt):
            known = value.node.maybe_as_int()
            if known is None:
                raise ValueError(
                    f"TensorSpec: {name} must be numbers, got the symbol {value}; give the sizes "
                    "that the program will have"
                )
            value = known
        number = operator.index(value)
        if number < 0:
            raise ValueError(f"TensorSpec: {name} must not be negative, got {number}")
        numbers.append(number)
    return tuple(numbers)


def _alignment_of(tensor: Tensor) -> int:
    try:
        # A fake tensor says cuda, and its memory is meta.
        is_there = tensor.untyped_storage().device.type != "meta"
        address = tensor.data_ptr() if is_there else 0
    except (RuntimeError, NotImplementedError):  # a wrapper without memory of its own
        return 16
    return min(address & -address, 16) if address else 16
