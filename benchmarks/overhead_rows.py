"""The rows of a record about the cost of a call, made from rounds.

Ratios and differences are taken within a round, where the processor is the same for all, and
a row has the median of its rounds'.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overhead_plan import ABSENT, BIAS, Cell, Group
from rounds import Round, microseconds

Row = dict[str, Any]
About = Mapping[Cell, Mapping[str, Any]]
"""What each cell's process said of itself: the solution that runs, and the file's results."""

SAME_CALL = {
    "torch.ops.tunedops.mm": "torch.mm",
    "tunedops.mm": "torch.mm",
    "tunedops.linear": "F.linear",
    f"tunedops.linear{BIAS}": f"F.linear{BIAS}",
}


def median_of(
    name: str, rounds: Sequence[Round], compare: Callable[[Round], float]
) -> dict[str, float]:
    """A column with the median over the rounds, and two with the tenths of them."""
    values = [compare(one) for one in rounds]
    tenths = statistics.quantiles(values, n=10)
    return {name: statistics.median(values), f"{name}_p10": tenths[0], f"{name}_p90": tenths[-1]}


def ratio(name: str, rounds: Sequence[Round], place: int, base: int) -> dict[str, float]:
    """The columns of a cell's time over that of another; below 1 is cheaper."""
    return median_of(name, rounds, lambda one: one[place] / one[base])


def price(name: str, rounds: Sequence[Round], place: int) -> dict[str, float]:
    """The columns of the nanoseconds that a cell takes more than the first one."""
    return median_of(name, rounds, lambda one: 1e9 * (one[place] - one[0]))


def eager_rows(group: Group, rounds: Sequence[Round], about: About) -> list[Row]:
    """Microseconds of each call, as part of torch.mm's and of what torch has for the same."""
    torchs = {cell.call: place for place, cell in enumerate(group) if cell.side.state == ABSENT}
    rows: list[Row] = []
    for place, cell in enumerate(group):
        same = torchs[SAME_CALL.get(cell.call, cell.call)]
        rows.append(
            {
                "product": str(cell.product),
                "call": cell.call,
                "state": cell.side.state,
                "solution": about[cell]["solution"],
                "us": microseconds(rounds, place),
                **ratio("of_torch_mm", rounds, place, torchs["torch.mm"]),
                **ratio("of_same_call", rounds, place, same),
                "rounds": len(rounds),
            }
        )
    return rows


def lookup_rows(group: Group, rounds: Sequence[Round], about: About) -> list[Row]:
    """Nanoseconds of each call, and how many more than torch's in the same round."""
    rows: list[Row] = []
    for place, cell in enumerate(group):
        rows.append(
            {
                "product": str(cell.product),
                "loop": cell.loop,
                "call": cell.call,
                "state": cell.side.state,
                "results": about[cell]["results"],
                "called": cell.product.variants if cell.cycles else 1,
                "ns": 1e3 * microseconds(rounds, place),
                **price("price_ns", rounds, place),
                "rounds": len(rounds),
            }
        )
    return rows


def thread_rows(group: Group, rounds: Sequence[Round], about: About) -> list[Row]:
    """Calls that all threads together make in a second, and as part of torch's."""
    rows: list[Row] = []
    for place, cell in enumerate(group):
        us = microseconds(rounds, place)
        rows.append(
            {
                "product": str(cell.product),
                "threads": cell.threads,
                "state": cell.side.state,
                "solution": about[cell]["solution"],
                "results": about[cell]["results"],
                "ns": 1e3 * us,
                "calls_per_second": round(1e6 * cell.threads / us),
                **ratio("of_never_enabled", rounds, place, 0),
                "rounds": len(rounds),
            }
        )
    return rows
