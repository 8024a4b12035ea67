"""Odd sizes in numbers: each beside the next aligned size, and how the sizes are printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from families import Row
from line_alignment import elements
from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rounds import geomean

DTYPE = "bfloat16"
ELEMENTS = elements(DTYPE)
AIM = 1.25
COLUMNS = (
    *("problem", "suite", "layout", "size"),
    *("default_us", "tuned_us", "ratio", "ratio_p10", "ratio_p90", "rounds", "solution"),
    *("next_aligned", "next_aligned_us", "default_quotient", "tuned_quotient"),
)
QUOTIENTS = {"torch": "default_quotient", "tuned": "tuned_quotient"}
"""The columns of a time over `next_aligned_us`, below 1 where an odd size takes less."""


def next_aligned(size: int) -> int:
    """The smallest size from this one on whose lines are multiples of 16 bytes."""
    return -(-size // ELEMENTS) * ELEMENTS


def add_quotients(rows: Iterable[dict[str, Any]]) -> None:
    """Puts the last columns in; None for an aligned size, and where the aligned one failed."""
    rows = list(rows)
    best = {(row["layout"], row["size"]): min(row["default_us"], row["tuned_us"]) for row in rows}
    for row in rows:
        aligned = next_aligned(row["size"])
        base = best.get((row["layout"], aligned)) if aligned != row["size"] else None
        row["next_aligned"] = aligned if base else None
        row["next_aligned_us"] = base
        row["default_quotient"] = row["default_us"] / base if base else None
        row["tuned_quotient"] = row["tuned_us"] / base if base else None


def summary_of(rows: Sequence[Row]) -> dict[str, Any]:
    """What the odd sizes say together; empty if none has its aligned size."""
    odd = [row for row in rows if row["tuned_quotient"] is not None]
    if not odd:
        return {}
    worst = max(odd, key=lambda row: row["tuned_quotient"])
    return {
        "products": len(odd),
        "within_the_aim": sum(row["tuned_quotient"] <= AIM for row in odd),
        "worst": round(worst["tuned_quotient"], 4),
        "worst_problem": worst["problem"],
        **{
            f"{side}_geomean": round(geomean(row[column] for row in odd), 4)
            for side, column in QUOTIENTS.items()
        },
    }


def print_sizes(
    rows: Sequence[Row], summary: Mapping[str, Any], sizes: Sequence[int], title: str
) -> None:
    """A line for each N, then what the odd sizes say together."""
    table = Table(title=f"time by size [us]: {title}", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("layout")
    for column in ("N", *(f"{size} {side}" for size in ("N-1", "N", "N+1") for side in QUOTIENTS)):
        table.add_column(column, justify="right")
    for size in ("N-1", "N+1"):
        table.add_column(f"{size} / aligned", justify="right")
    found = {(row["layout"], row["size"]): row for row in rows}
    for layout in dict.fromkeys(row["layout"] for row in rows):
        for size in dict.fromkeys(sizes):
            line = [found.get((layout, size + offset)) for offset in (-1, 0, 1)]
            times = [text(row, name) for row in line for name in ("default_us", "tuned_us")]
            quotients = [text(row, QUOTIENTS["tuned"]) for row in (line[0], line[2])]
            table.add_row(layout, str(size), *times, *quotients)
    console = make_console()
    console.print(table)
    if summary:
        console.print(
            f"tuned over the best of the next aligned size: {summary['within_the_aim']} of "
            f"{summary['products']} odd sizes are within {AIM}, geometric mean "
            f"{summary['tuned_geomean']:.2f} (torch {summary['torch_geomean']:.2f}), "
            f"worst {summary['worst']:.2f}, {summary['worst_problem']}",
            soft_wrap=True,
        )


def text(row: Row | None, column: str) -> str:
    """A number of a row that may lack."""
    return "-" if row is None or row[column] is None else f"{row[column]:.2f}"
