"""One problem that can be tuned, as an object: a call of an op that was bound and not run.

Two calls are the same problem if results files know them by the same key, so that is what
:class:`BoundArguments` are compared by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import torch

from tunedops import _C
from tunedops.arguments import text_of
from tunedops.device import described_device, device_pair
from tunedops.tensor_spec import TensorSpec

Argument: TypeAlias = "TensorSpec | float | bool | str | torch.dtype"


class NotTunableError(ValueError):
    """A call is right, and only torch's own kernel can compute it: there is nothing to choose."""


@dataclass(frozen=True, eq=False, repr=False)
class BoundArguments:
    """One problem: an op, the arguments of a call of it, and the key that it goes by.

    ``tunedops.linear.bind(...)`` and its kin make one, as do :meth:`from_key` and
    :meth:`from_json`. Two are equal if device and key are, whatever calls they were made from.
    The key holds torch's precision flags and, on the CPU, the size of torch's thread pool as
    they were at that moment.
    """

    op: str
    """``mm``, ``addmm``, ``bmm``, ``baddbmm``, ``linear``, or of aten's ``addmv`` and
    ``_addmm_activation``."""
    device: torch.device
    key: tuple[str, str]
    """Op and params, as a row of the results file has them."""
    named_arguments: tuple[tuple[str, Argument], ...]
    """What :attr:`arguments` holds."""
    from_call: bool = True
    """Whether the arguments are those of a call; else they follow from the key."""

    @classmethod
    def from_key(cls, op: str, params: str, device: str | torch.device = "cpu") -> BoundArguments:
        """The problem that a row of a results file or an untuned file is about.

        Its arguments are those of the plainest call with that key. Where the key says no more
        of a scalar than that it is neither 0 nor 1, they hold some such number.

        Args:
            op: the first field of the row, such as ``GemmTunableOp_float_TN``.
            params: the second field.
            device: where; a GPU need not be here.

        Raises:
            TypeError: an argument has another type.
            ValueError: it is no problem of such a device; the message says why, if that is known.
        """
        key = (text_of("from_key", "op", op), text_of("from_key", "params", params))
        place = described_device("from_key", device)
        pair = device_pair(place)
        if place.type == "meta":
            raise ValueError("from_key: device must be cpu or cuda, got 'meta'")
        if not _C.is_problem(pair, *key):
            hint = _C.key_hint(pair, *key)
            raise ValueError(
                f"from_key: '{op},{params}' is no product of {place.type}"
                + (f" ({hint})" if hint else "")
            )
        from tunedops.key_arguments import call_of_key

        name, arguments = call_of_key(key, place)
        return cls(name, place, key, tuple(arguments.items()), from_call=False)

    @classmethod
    def from_json(cls, text: str) -> BoundArguments:
        """What :meth:`to_json` wrote.

        Raises:
            ValueError: the text is no JSON, no bound arguments, of a version that this one does
                not know, or its arguments and its key are different problems.
        """
        from tunedops.bound_json import read_one

        return read_one(text_of("from_json", "text", text))

    def to_json(self) -> str:
        """One line of JSON, which :meth:`from_json` reads."""
        from tunedops.bound_json import write_one

        return write_one(self)

    @property
    def arguments(self) -> dict[str, Argument]:
        """The call's arguments by name, tensors as :class:`TensorSpec`, without those that are
        None."""
        return dict(self.named_arguments)

    def vjp(self) -> tuple[BoundArguments, ...]:
        """The problems that autograd's backward runs for this one.

        They are what torch's own formulas do with operands of these layouts, in the order of
        the operands whose gradients they are: input before weight. It is assumed that all
        operands need gradients and that the incoming gradient is contiguous; a loss such as
        ``y.sum()`` hands down an expanded one, which is another problem. An activation and a
        bias add none, since their gradients are no products. Flags and threads are those of
        this key. An output that exists counts as a fresh one, since autograd refuses it.

        Raises:
            NotTunableError: torch has no formula for its gradient: ``_addmm_activation``, or an
                output of another type than the operands'.
        """
        from tunedops.vjp import vjp_of

        return vjp_of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundArguments):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[torch.device, tuple[str, str]]:
        return (self.device, self.key)

    def __str__(self) -> str:
        """The call: ``linear(input=float32[4, 64], weight=float32[32, 64])``."""
        return f"{self.op}({_text_of(self.arguments)})"

    def __repr__(self) -> str:
        return f"<BoundArguments {self} on {self.device}: {','.join(self.key)}>"


def _text_of(arguments: Mapping[str, Argument]) -> str:
    plain: dict[str, Argument] = {"alpha": 1, "beta": 1, "activation": "none", "use_gelu": False}
    return ", ".join(
        f"{name}={value if isinstance(value, TensorSpec) else repr(value)}"
        for name, value in arguments.items()
        if name not in plain or value != plain[name]
    )
