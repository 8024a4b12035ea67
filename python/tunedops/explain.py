"""Why a product takes the kernel that it takes."""

from __future__ import annotations

from dataclasses import dataclass

from tunedops import _C
from tunedops.bound_arguments import BoundArguments
from tunedops.device import device_pair, parse_device


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

    def __str__(self) -> str:
        if self.solution is None:
            return f"{self.tier}: nothing ({self.place})"
        from tunedops.table import ratio_of, times

        text = f"{self.tier}: {self.solution}"
        faster = ratio_of(self.default_ms, self.time_ms, None)
        if faster is not None and self.solution != "Default":
            text += f", {times(faster)} as fast as Default when it was timed"
        text += f" ({self.place})"
        return text + (f"; not used: {self.refused}" if self.refused else "")


@dataclass(frozen=True)
class Explanation:
    """Who decides on a problem, and what all others would have said.

    As text it is what :func:`explain` prints: a star marks the tier that decides.
    """

    problem: BoundArguments
    decided_by: str
    """The tier; ``a miss`` if none has anything; ``nobody`` if nothing is looked up here."""
    solution: str | None
    """What runs; None if that is not known (it would be tuned first), or an error."""
    note: str
    """What there is to say of a miss, and where nothing is looked up."""
    tiers: tuple[TierAnswer, ...]
    """In the order in which they are asked."""
    kernels: dict[str, str]
    """Per kernel of the op why it refuses the problem; empty: it would compete."""

    def __str__(self) -> str:
        lines = [
            f"{self.problem} on {self.problem.device}",
            ",".join(self.problem.key),
            f"decided by {self.decided_by}: "
            + ", ".join(part for part in (self.solution, self.note) if part),
        ]
        for answer in self.tiers:
            mark = "*" if answer.tier == self.decided_by else " "
            lines.append(f"{mark} {answer}")
        lines.append("kernels:")
        lines += [f"  {name}: {reason or 'can run it'}" for name, reason in self.kernels.items()]
        return "\n".join(lines)


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
    print(explanation(problem))


def explanation(problem: BoundArguments) -> Explanation:
    """What :func:`explain` prints, for programs."""
    if not isinstance(problem, BoundArguments):
        raise TypeError(
            "explain: problem must be BoundArguments (tunedops.mm.bind(...) makes them), got "
            f"{type(problem).__name__}"
        )
    parse_device(problem.device)  # it may be of another machine
    place = device_pair(problem.device)
    decided_by, solution, note, answers, kernels = _C.explain(place, *problem.key)
    tiers = tuple(
        TierAnswer(tier, where, chosen or None, refused, time_ms, default_ms)
        for tier, where, chosen, refused, time_ms, default_ms in answers
    )
    return Explanation(problem, decided_by, solution or None, note, tiers, dict(kernels))
