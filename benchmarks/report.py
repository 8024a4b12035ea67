"""What a comparison prints: a line for each row as it is measured, the families at the end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from families import HEADER, LEFT, LOSS, Row, families, losers
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

WIDTH = 132  # where there is no terminal


def make_console() -> Console:
    """Prints text as it is, and as wide where there is no terminal."""
    return Console(
        width=None if sys.stdout.isatty() else WIDTH, markup=False, highlight=False, emoji=False
    )


def print_header() -> None:
    """The titles above the lines of `print_row`."""
    print(f"{'problem':<38}{'torch [us]':>11}{'tuned [us]':>11}{'ratio':>8}  solution")


def print_row(row: Row) -> None:
    """One measured row."""
    print(
        f"{row['problem']:<38}{row['default_us']:>11.2f}{row['tuned_us']:>11.2f}"
        f"{row['ratio']:>7.3f}x  {row['solution']}",
        flush=True,
    )


def print_families(rows: Sequence[Row], title: str) -> None:
    """The families as a table, with a line for each side, then the losers among what is tuned."""
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    for column in HEADER:
        left = column in LEFT
        table.add_column(column, justify="left" if left else "right", no_wrap=not left)
    for family in families(rows):
        if family.name == "all" or len(family.sides) > 1:
            table.add_section()
        for line in family.lines():
            table.add_row(*line)
    console = make_console()
    console.print(table)
    lost = losers(rows)
    if not lost:
        console.print(f"no row is below {LOSS}x")
    for row in lost:
        console.print(
            f"below {LOSS}x: {row['problem']} {row['ratio']:.3f}x "
            f"(tenths of the rounds: {row['ratio_p10']:.3f} to {row['ratio_p90']:.3f})",
            soft_wrap=True,
        )
