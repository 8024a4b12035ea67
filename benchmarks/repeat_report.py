"""Repeated tuning in numbers: a row for each product, what they say together, how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table
from side_by_side import SideBySide
from sides import DEFAULT

Row = Mapping[str, Any]

COLUMNS = (
    "problem",
    "suite",
    "winners",
    "agreeing",
    "difference",
    "default_us",
    "fastest_us",
    "slowest_us",
    "rounds",
    "solutions",
)


def row_of(winners: Counter[str], timed: SideBySide | None) -> dict[str, Any]:
    """The columns of one product.

    Args:
        winners: how often each solution won.
        timed: all of them, unless there is one only.
    """
    order = timed.by_time(winners) if timed else list(winners)
    row: dict[str, Any] = {
        "winners": len(winners),
        "agreeing": max(winners.values()),  # runs with the most frequent winner
        "difference": 0.0,
        "default_us": None,
        "fastest_us": None,
        "slowest_us": None,
        "rounds": None,
        # The fastest first, each with how often it won.
        "solutions": " ".join(f"{winners[solution]}x{solution}" for solution in order),
    }
    if timed:
        row |= {
            "difference": max(0.0, timed.excess(order[-1], order[0])),
            "default_us": timed.microseconds(DEFAULT),
            "fastest_us": timed.microseconds(order[0]),
            "slowest_us": timed.microseconds(order[-1]),
            "rounds": len(timed.rounds),
        }
    return row


def summary_of(rows: Sequence[Row], times: int) -> dict[str, Any]:
    """What the rows say together."""
    worst = max(rows, key=lambda row: row["difference"])
    return {
        "times": times,
        "products": len(rows),
        "products_with_several_winners": sum(row["winners"] > 1 for row in rows),
        "choices": len(rows) * times,
        "choices_unlike_the_most_frequent": sum(times - row["agreeing"] for row in rows),
        "largest_difference": round(worst["difference"], 4),
        "largest_difference_of": worst["problem"],
    }


def sentences(summary: Mapping[str, Any]) -> list[str]:
    """The summary in words."""
    lines = [
        f"{summary['products_with_several_winners']} of {summary['products']} products have "
        f"several winners in {summary['times']} runs; "
        f"{summary['choices_unlike_the_most_frequent']} of {summary['choices']} choices are not "
        "their product's most frequent",
    ]
    if summary["products_with_several_winners"]:
        lines.append(
            f"winners of a product differ by {summary['largest_difference']:.2%} at most "
            f"({summary['largest_difference_of']})"
        )
    return lines


def print_row(row: Row) -> None:
    """One product, as soon as it is measured."""
    words = (
        f"{row['winners']} winners, {row['difference']:.2%} between them"
        if row["winners"] > 1
        else "the same each time"
    )
    print(f"{row['problem']:<38} {words}", flush=True)


def print_repeats(rows: Sequence[Row], title: str) -> None:
    """The products whose winners differ as a table, if there are any."""
    several = [row for row in rows if row["winners"] > 1]
    if not several:
        return
    table = Table(title=f"products with several winners: {title}", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("product", no_wrap=True)
    for column in ("difference", "torch [us]", "fastest [us]", "slowest [us]"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("winners, the fastest first", overflow="fold")
    for row in several:
        times = [f"{row[name]:.2f}" for name in ("default_us", "fastest_us", "slowest_us")]
        cells = [row["problem"], f"{row['difference']:.2%}", *times]
        table.add_row(*cells, row["solutions"].replace(" ", "\n"))
    make_console().print(table)
