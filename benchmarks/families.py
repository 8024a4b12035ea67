"""A record by families: what is printed at the end of a comparison, and in the README.

A family is a suite of the workload file. Rows come from a measurement or from a record's CSV,
where numbers are text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rounds import geomean

Row = Mapping[str, Any]

HEADER = (
    "family",
    "rows",
    "geomean",
    "worst",
    "worst row",
    ">= 1.02x",
    "TunableOp's procedure, emulated",
    "torch/floor",
)
RIGHT = frozenset(HEADER) - {"family", "worst row"}
WIN = 1.02
LOSS = 0.99


@dataclass(frozen=True)
class Family:
    """What its rows say together; ratios are torch's time over another."""

    name: str
    rows: int
    geomean: float
    worst: float
    worst_problem: str
    wins: float
    """The share of rows that are faster by 2 % and more."""
    tunableop: float | None
    over_floor: float | None

    def cells(self) -> list[str]:
        """The fields below HEADER."""
        return [
            self.name,
            str(self.rows),
            f"{self.geomean:.3f}x",
            f"{self.worst:.3f}x",
            self.worst_problem,
            f"{self.wins:.0%}",
            "-" if self.tunableop is None else f"{self.tunableop:.3f}x",
            "-" if self.over_floor is None else f"{self.over_floor:.2f}",
        ]


def families(rows: Sequence[Row]) -> list[Family]:
    """Each family in the order of the rows, and all together if there are several."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get("suite") or "rows"), []).append(row)
    found = [_family(name, members) for name, members in groups.items()]
    return [*found, _family("all", list(rows))] if len(found) > 1 else found


def losers(rows: Sequence[Row]) -> list[Row]:
    """The rows that lose by more than 1 %, the worst first."""
    return sorted((row for row in rows if float(row["ratio"]) < LOSS), key=_ratio)


def _ratio(row: Row) -> float:
    return float(row["ratio"])


def _family(name: str, rows: list[Row]) -> Family:
    worst = min(rows, key=_ratio)
    over_floor = [
        float(row["default_us"]) / floor for row in rows if (floor := _number(row, "floor_us"))
    ]
    tunableop = [value for row in rows if (value := _number(row, "emulated_tunableop_ratio"))]
    return Family(
        name=name,
        rows=len(rows),
        geomean=geomean(_ratio(row) for row in rows),
        worst=_ratio(worst),
        worst_problem=str(worst["problem"]),
        wins=sum(_ratio(row) >= WIN for row in rows) / len(rows),
        tunableop=geomean(tunableop) if tunableop else None,
        over_floor=geomean(over_floor) if over_floor else None,
    )


def _number(row: Row, column: str) -> float | None:
    value = row.get(column)
    return float(value) if value not in (None, "") else None
