"""Paired rounds: the order in which sides are timed, and what their ratios say.

A round times every side there and back (A B C C B A), so that none gains from its place;
which comes first is drawn anew for each round. A ratio is taken within a round, where the
clocks and the temperature are the same for all sides, and a row's ratio is the median of
its rounds' ratios.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterable, Sequence

Round = Sequence[float]
"""Mean seconds of a call, one number a side; torch's own comes first."""

LEAST_ROUNDS = 11  # from which on tenths of them mean something


def draw_order(sides: int) -> list[int]:
    """The sides of one round in the order of their readings, each twice."""
    order = random.sample(range(sides), sides)
    return [*order, *reversed(order)]


def one_round(order: Sequence[int], seconds: Sequence[float]) -> Round:
    """The round that these readings make, given in the order of `draw_order`."""
    sides = max(order) + 1
    sums = [0.0] * sides
    for side, reading in zip(order, seconds, strict=True):
        sums[side] += reading
    return [total * sides / len(order) for total in sums]


def microseconds(rounds: Sequence[Round], side: int) -> float:
    """The median of a side's times."""
    return statistics.median(one[side] for one in rounds) * 1e6


def ratios(rounds: Sequence[Round], side: int) -> list[float]:
    """How many times faster than the first side, for each round."""
    return [one[0] / one[side] for one in rounds]


def tuned_columns(rounds: Sequence[Round]) -> dict[str, float | int]:
    """The columns of a record about the second side, ours."""
    values = ratios(rounds, 1)
    tenths = statistics.quantiles(values, n=10)
    return {
        "default_us": microseconds(rounds, 0),
        "tuned_us": microseconds(rounds, 1),
        "ratio": statistics.median(values),
        "ratio_p10": tenths[0],
        "ratio_p90": tenths[-1],
        "rounds": len(rounds),
    }


def side_columns(rounds: Sequence[Round], side: int, name: str) -> dict[str, float]:
    """The columns about another side, which begin with its name."""
    return {
        f"{name}_us": microseconds(rounds, side),
        f"{name}_ratio": statistics.median(ratios(rounds, side)),
    }


def geomean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(value) for value in values))
