"""From an op of a trace to its problem.

A product that ran with this package says in the trace which problem it is. Of all others
torch.profiler records shapes, types, strides and scalars; what that leaves open is assumed, and
each assumption is named.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import torch

from tunedops.bound_arguments import BoundArguments
from tunedops.described_call import ROLES, operand_of, work_out
from tunedops.recorded_call import SCALARS, RecordedCall
from tunedops.trace_events import OpEvent

# As csrc/ops/problem_record.h writes it: the device and the key follow.
_PROBLEM = "tunedops::problem "


def calls(count: int) -> str:
    """``1 call``, ``2 calls``."""
    return "1 call" if count == 1 else f"{count} calls"


@dataclass
class Assumptions:
    """What was assumed, and for how many calls."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str) -> None:
        """For one more call."""
        self.counts[kind] += 1

    def sentences(self) -> list[str]:
        """One for each kind."""
        return [
            f"{text.format(threads=torch.get_num_threads())} ({calls(count)})"
            for text, count in sorted(self.counts.items())
        ]


def exact_problem(op: OpEvent) -> BoundArguments | None:
    """The problem that an event of ours names; None if it is no such event.

    Raises:
        ValueError: it is one, and what it names is no problem to this release.
    """
    if not op.name.startswith(_PROBLEM):
        return None
    device, _, key = op.name.removeprefix(_PROBLEM).partition(",")
    name, _, params = key.partition(",")
    return BoundArguments.from_key(name, params, device)


def is_exact(op: OpEvent) -> bool:
    """Whether an event of ours names its problem."""
    return op.name.startswith(_PROBLEM)


def product_of(op: OpEvent) -> str | None:
    """The op that an event is a call of, as ``addmm`` for ``aten::addmm_``; None for others."""
    namespace, _, name = op.name.partition("::")
    name = name.removesuffix("_")
    if namespace == "tunedops" and name in ROLES:
        return name
    return name if namespace == "aten" and name in ROLES and name != "linear" else None


def has_shapes(op: OpEvent) -> bool:
    """Whether the profiler recorded them."""
    return isinstance(op.args.get("Input Dims"), list)


def problem_from_shapes(
    op: OpEvent, device: torch.device, assumptions: Assumptions, is_mv: bool = False
) -> BoundArguments | None:
    """The problem of a call with recorded shapes; None if it cannot be tuned.

    Args:
        op: a call of a product.
        device: where it ran.
        assumptions: what had to be assumed is added here.
        is_mv: it was called by ``aten::mv``, which overwrites what it adds to.
    """
    name = product_of(op)
    assert name is not None
    try:
        call = RecordedCall(op, name, device)
        if is_mv:
            call.extra |= {"beta": 0, "alpha": 1}
        bound = work_out(
            name,
            ROLES[name],
            call.specs,
            {role: operand_of(spec) for role, spec in call.specs.items()},
            device,
            call.extra,
            is_checked=op.name.startswith("tunedops::"),
            in_place=op.name.endswith("_"),
        )
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError, OverflowError):
        return None
    if isinstance(bound, str):
        return None
    for kind in call.assumed - ({SCALARS} if is_mv else set()):
        assumptions.add(kind)
    return bound
