"""A record by families: what is printed at the end of a comparison, and in the README.

A family is a suite of the workload file. Rows come from a measurement or from a record's CSV,
where numbers are text, and where columns of sides that were not compared are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rounds import geomean

Row = Mapping[str, Any]

TUNED = "tuned"
LIBRARY = "library kernels only"
TUNABLEOP = "TunableOp's procedure, emulated"
SIDES = {TUNED: "ratio", LIBRARY: "library_ratio", TUNABLEOP: "emulated_tunableop_ratio"}
"""The columns of their ratios: torch's time over the side's."""

HEADER = ("family", "rows", "side", "geomean", "worst", "worst row", ">= 1.02x", "torch/floor")
LEFT = frozenset(("family", "side", "worst row"))
"""Columns of words."""
WIN = 1.02
LOSS = 0.99


@dataclass(frozen=True)
class Side:
    """What one side's ratios in a family say together."""

    name: str
    geomean: float
    worst: float
    worst_problem: str
    wins: float
    """The share of rows that are faster by 2 % and more."""

    def cells(self) -> list[str]:
        """The fields below HEADER from `geomean` on."""
        return [
            f"{self.geomean:.3f}x",
            f"{self.worst:.3f}x",
            self.worst_problem,
            f"{self.wins:.0%}",
        ]


@dataclass(frozen=True)
class Family:
    """What its rows say together."""

    name: str
    rows: int
    sides: Mapping[str, Side]
    """Those that were compared; the one that is tuned always was."""
    over_floor: float | None

    def lines(self) -> list[list[str]]:
        """The fields below HEADER, a line for each side."""
        return [
            [self.name, str(self.rows), side.name, *side.cells(), number_text(self.over_floor)]
            for side in self.sides.values()
        ]


def number_text(value: float | None) -> str:
    """A quotient that may not be known."""
    return "-" if value is None else f"{value:.2f}"


def families(rows: Sequence[Row]) -> list[Family]:
    """Each family in the order of the rows, and all together if there are several."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get("suite") or "rows"), []).append(row)
    found = [_family(name, members) for name, members in groups.items()]
    return [*found, _family("all", list(rows))] if len(found) > 1 else found


def losers(rows: Sequence[Row]) -> list[Row]:
    """The rows that lose by more than 1 %, the worst first."""
    return sorted(
        (row for row in rows if float(row["ratio"]) < LOSS), key=lambda row: float(row["ratio"])
    )


def _family(name: str, rows: list[Row]) -> Family:
    over_floor = [
        float(row["default_us"]) / floor for row in rows if (floor := _number(row, "floor_us"))
    ]
    sides = [_side(side, column, rows) for side, column in SIDES.items()]
    return Family(
        name=name,
        rows=len(rows),
        sides={side.name: side for side in sides if side is not None},
        over_floor=geomean(over_floor) if over_floor else None,
    )


def _side(name: str, column: str, rows: list[Row]) -> Side | None:
    known = [(ratio, row) for row in rows if (ratio := _number(row, column)) is not None]
    if not known:
        return None
    worst, worst_row = min(known, key=lambda one: one[0])
    return Side(
        name=name,
        geomean=geomean(ratio for ratio, _ in known),
        worst=worst,
        worst_problem=str(worst_row["problem"]),
        wins=sum(ratio >= WIN for ratio, _ in known) / len(known),
    )


def _number(row: Row, column: str) -> float | None:
    value = row.get(column)
    return float(value) if value not in (None, "") else None
