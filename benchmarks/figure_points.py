"""The numbers of the README's figure: for each row of a record the part of its floor.

The picture carries them in words too, for whoever cannot see it, and so that a program can tell
whether it is up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from families import Row


@dataclass(frozen=True)
class Point:
    """One row: its floor over the time of each side."""

    family: str
    problem: str
    default: float
    tuned: float

    def __str__(self) -> str:
        return f"{self.family}, {self.problem}: {self.default:.0%}, {self.tuned:.0%}"


def points_of(rows: Sequence[Row]) -> list[Point]:
    """The rows by families, in a family those that torch runs worst first."""
    points = [
        Point(
            family=str(row["suite"]),
            problem=str(row["problem"]),
            default=float(row["floor_us"]) / float(row["default_us"]),
            tuned=float(row["floor_us"]) / float(row["tuned_us"]),
        )
        for row in rows
    ]
    order = list(dict.fromkeys(point.family for point in points))
    return sorted(points, key=lambda point: (order.index(point.family), point.default))


def description_of(points: Sequence[Point], device: str) -> str:
    """What the picture shows, in words and numbers."""
    head = f"Part of the floor that torch's kernel and the tuned one reach on one {device}."
    return "\n".join([head, *map(str, points)])
