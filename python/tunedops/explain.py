"""Why a product takes the kernel that it takes."""

from __future__ import annotations

import io
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tunedops import _C
from tunedops.bound_arguments import BoundArguments
from tunedops.device import device_pair, parse_device
from tunedops.table import make_console, microseconds


@dataclass(frozen=True)
class TierAnswer:
    """What one place where results may be has to say of a problem."""

    tier: str
    """``overlay``, ``results file``, ``personal cache`` or ``database``."""
    place: str
    """The file, with the line of the row if there is one; or what there is in its stead."""
    solution: str | None
    """None: it has nothing."""
    refused: str
    """Why the solution cannot be used; empty if it can."""
    time_ms: float | None
    default_ms: float | None


@dataclass(frozen=True)
class Explanation:
    """Who decides on a problem, and what all others would have said.

    ``str`` and ``print`` show it as text.
    """

    problem: BoundArguments
    decided_by: str
    """The tier; ``a miss`` if none has anything; ``nobody`` if nothing is looked up here."""
    solution: str
    """What runs. Of a miss: what it leads to."""
    tiers: tuple[TierAnswer, ...]
    """In the order in which they are asked."""
    kernels: dict[str, str]
    """Per kernel of the op why it refuses the problem; empty: it would compete."""

    def __str__(self) -> str:
        text = io.StringIO()
        _print(self, Console(file=text, width=160, markup=False, highlight=False, emoji=False))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def explain(problem: BoundArguments) -> None:
    """Prints who decides on a problem, as it would be run by this thread now.

    Of each tier, in the order in which they are asked: what it has for the problem, and why that
    is not used if it is not. Then each kernel that refuses the problem, with its reason. Nothing
    is tuned or changed.

    Args:
        problem: what ``tunedops.mm.bind(...)`` and its kin give, or a result's keys.

    Raises:
        TypeError: it is no bound arguments.
        ValueError: it is of a device that is not here.
    """
    _print(explanation(problem), make_console())


def explanation(problem: BoundArguments) -> Explanation:
    """What :func:`explain` prints, for programs."""
    if not isinstance(problem, BoundArguments):
        raise TypeError(
            "explain: problem must be BoundArguments (tunedops.mm.bind(...) makes them), got "
            f"{type(problem).__name__}"
        )
    parse_device(problem.device)  # it may be of another machine
    place = device_pair(problem.device)
    decided_by, solution, answers, kernels = _C.explain(place, *problem.key)
    tiers = tuple(
        TierAnswer(tier, where, chosen or None, refused, time_ms, default_ms)
        for tier, where, chosen, refused, time_ms, default_ms in answers
    )
    return Explanation(problem, decided_by, solution, tiers, dict(kernels))


def _print(told: Explanation, console: Console) -> None:
    console.print(f"{told.problem} on {told.problem.device}")
    console.print(",".join(told.problem.key))
    console.print(f"decided by: {told.decided_by} -> {told.solution}")
    table = Table()
    for column in ("tier", "where", "solution"):
        table.add_column(column, overflow="fold")
    for column in ("default\n[us]", "tuned\n[us]"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("not used, because", overflow="fold")
    for answer in told.tiers:
        table.add_row(
            ("* " if answer.tier == told.decided_by else "  ") + answer.tier,
            answer.place,
            answer.solution or "-",
            microseconds(answer.default_ms),
            microseconds(answer.time_ms),
            answer.refused,
        )
    console.print(table)
    for kernel, reason in told.kernels.items():
        console.print(f"{kernel}: {reason or 'competes'}", soft_wrap=True)
