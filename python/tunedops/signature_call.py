"""What a completed call of an op was: the record that ``op.last_call`` gives.

A record holds numbers and no tensor, except for metadata that an op declares (offsets of groups,
say), whose values decide what the call does: of those it keeps references, which are read when
somebody asks for the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor


class TensorFacts(NamedTuple):
    """Shape and type of a tensor of a call."""

    shape: tuple[int, ...]
    dtype: torch.dtype


class Traffic(NamedTuple):
    """How often a call reads and writes a tensor, by what it computes."""

    tensor: str
    reads: int
    writes: int


class Memory(NamedTuple):
    """Where a tensor lay: to tell whether two of a call shared it."""

    storage: int
    begin: int
    end: int

    def overlaps(self, other: Memory) -> bool:
        """Whether both had a byte."""
        is_one = self.storage == other.storage
        return is_one and self.begin < other.end and other.begin < self.end


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class SignatureCall:
    """One completed call. Immutable.

    Source: the fields of TileOPs' record of that name, then what a product has besides.
    """

    op: str
    indices: Mapping[str, int | torch.dtype]
    """What the signature's letters stood for: ``M``, ``N``, ``K``, ``B`` of batches, and the type
    ``T``. Rows of any rank count as one ``M``."""
    branch_key: tuple[str, ...]
    """Which branch of the signature it took: the layout of the operands (``nt``: the second lies
    transposed), then ``bias`` or ``addend``, an activation, ``in_place``, where there is one."""
    device: torch.device
    tensors: Mapping[str, TensorFacts]
    """Inputs that were there, and the output, by the signature's names."""
    traffic: tuple[Traffic, ...]
    """For each of them."""
    written: tuple[str, ...]
    """Inputs that the call wrote."""
    has_out: bool
    """Whether the caller gave an output."""
    strides: Mapping[str, tuple[int, ...]]
    """Of each tensor, in elements."""
    scalars: Mapping[str, float]
    """``beta`` and ``alpha``, of the ops that have them."""
    allows_tf32: bool
    """Whether torch allowed TF32 for the type and the device then."""
    solution: str | None
    """What computed it, as in a results file: ``Default`` is torch's own kernel. None: it is not
    known, since lookups were off, or what was multiplied is not what was given (autocast)."""
    tier: str | None
    """Who chose that: ``overlay``, ``results file``, ``personal cache``, ``database`` or
    ``a miss``; None if nobody, or if it is not known."""
    metadata: Mapping[str, Tensor] = field(default_factory=_nothing)
    """Inputs whose values an op declares as metadata: the tensors themselves."""
    stages: Mapping[str, tuple[SignatureCall, ...]] = field(default_factory=_nothing)
    """Of a composite op, the calls of its parts, by stage, in the order in which they ended."""
    memory: Mapping[str, Memory] = field(default_factory=_nothing, repr=False, compare=False)

    def metadata_values(self, name: str) -> Any:
        """The values of a metadata input, as a list (or a number), as they are now.

        The device is waited for. If the tensor was changed since the call, so is this.

        Raises:
            KeyError: the op declares no such metadata, or the call had none.
            RuntimeError: it is a meta tensor, which has no values.
        """
        tensor = self.metadata[name]
        if tensor.is_meta:
            raise RuntimeError(f"{self.op}: {name} is a meta tensor, which has no values")
        return tensor.tolist()
