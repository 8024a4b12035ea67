"""What ``tune`` prints at its end: the table, what it took, and what disturbed it."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from tunedops.cli.output import visible
from tunedops.cli.problems import Problem
from tunedops.cli.processor_share import ProcessorShare
from tunedops.results import was_disturbed
from tunedops.table import (
    make_console,
    microseconds,
    ratio_of,
    results_table,
    spread_text,
    times,
)


@dataclass(frozen=True)
class Outcome:
    """How one product came out. Times are milliseconds of one call."""

    how: str
    """``tuned``, ``stored`` or ``failed``."""
    solution: str
    """The winner; of a failure the reason."""
    time_ms: float | None = None
    default_ms: float | None = None
    spread: float | None = None
    samples: int | None = None
    timing: str | None = None
    """These three as :class:`tunedops.results.Result` has them."""
    elapsed_ms: float | None = None
    """How long tuning took; None if there was none."""
    searched: int = 0
    """How many configs were tried beyond those that kernels propose."""

    @property
    def was_disturbed(self) -> bool:
        """Whether other work on the machine disturbed the measurements."""
        return was_disturbed(self.timing)

    @property
    def ratio(self) -> float | None:
        """How many times faster than torch's own product; None if nobody knows."""
        return ratio_of(self.default_ms, self.time_ms, self.timing)


def print_table(problems: list[Problem], outcomes: dict[Problem, Outcome]) -> None:
    """One row a product, and the geometric mean of each suite and of all."""
    done = [problem for problem in problems if problem in outcomes]
    if not done:
        return
    table = results_table(["product"], ["solution", ""])
    for problem in done:
        outcome = outcomes[problem]
        table.add_row(
            visible(problem.label),
            microseconds(outcome.default_ms),
            microseconds(outcome.time_ms),
            times(outcome.ratio),
            spread_text(outcome.spread, outcome.samples, outcome.timing),
            visible(outcome.solution),
            outcome.how,
        )
    suites = list(dict.fromkeys(problem.suite for problem in done))
    groups = [(f"geomean of {suite}", [suite]) for suite in suites if len(suites) > 1]
    table.add_section()
    for name, members in [*groups, ("geomean", suites)]:
        ratios = [outcomes[p].ratio for p in done if p.suite in members]
        table.add_row(visible(name), "", "", times(geomean(ratios)), "", "", "")
    make_console().print(table)


def print_report(outcomes: list[Outcome], share: ProcessorShare | None) -> None:
    """The lines below the table.

    Args:
        outcomes: of all products.
        share: of the processors while they were tuned on the CPU.
    """
    for sentence in (how_long(outcomes), how_far(outcomes), what_disturbed(outcomes, share)):
        if sentence is not None:
            print(sentence)


def how_long(outcomes: list[Outcome]) -> str | None:
    """What tuning cost; None if there was none."""
    seconds = [o.elapsed_ms / 1e3 for o in outcomes if o.elapsed_ms is not None]
    if not seconds:
        return None
    return (
        f"tuned {len(seconds)} of {len(outcomes)} products in {sum(seconds):.1f} s: "
        f"{statistics.median(seconds):.2f} s in the median, {max(seconds):.2f} s at most"
    )


def how_far(outcomes: list[Outcome]) -> str | None:
    """What was searched; None if nothing was."""
    tried = [o.searched for o in outcomes if o.how == "tuned"]
    if not any(tried):
        return None
    return (
        f"searched {sum(tried)} configs beyond what kernels propose: "
        f"{statistics.median(tried):.0f} for a product in the median, {max(tried)} at most"
    )


def what_disturbed(outcomes: list[Outcome], share: ProcessorShare | None) -> str | None:
    """What other work on the machine did to the measurements, and the cure; None: nothing.

    Marked results are tuned again by the next run. Where none is marked, though threads waited,
    only ``--retune`` does it.
    """
    disturbed = sum(outcome.was_disturbed for outcome in outcomes)
    if disturbed:
        return (
            f"{disturbed} of {len(outcomes)} products were timed while other work held the "
            "processors: they have no ratio and are left out of the geomean; the same command "
            "tunes them again, when the machine is idle"
        )
    was_tuned = any(outcome.how == "tuned" for outcome in outcomes)
    if share is not None and was_tuned and share.was_lacking():
        return (
            f"the machine was busy: threads waited {share.waited():.0%} of the time for a "
            "processor, so times and winners may be wrong; tune again with --retune when the "
            "machine is idle"
        )
    return None


def geomean(ratios: list[float | None]) -> float | None:
    """The geometric mean of those that are known; None if none is."""
    known = [ratio for ratio in ratios if ratio]  # a row may say 0
    if not known:
        return None
    return math.exp(sum(math.log(ratio) for ratio in known) / len(known))
