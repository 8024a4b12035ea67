"""Tables and numbers for people, always as plain text.

Files may hold anything, so nothing from them is read as markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tunedops.results import was_disturbed

if TYPE_CHECKING:
    from tunedops.results import Result

# Characters in a line where there is no terminal whose width would count.
_FILE_WIDTH = 200

_WIDTH_FOR_DATES = 120

# No time in microseconds and no ratio is that large; a file may say so.
_ABSURD = 1e9

# Fewer tell nothing of how far they spread.
_ROUNDS_WITH_SPREAD = 3


def make_console(stderr: bool = False) -> Console:
    """A console that takes text literally."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _FILE_WIDTH
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def results_table(first: Sequence[str], last: Sequence[str]) -> Table:
    """A table for results: the columns ``first``, times, ratio and spread, then ``last``."""
    table = Table()
    for column in first:
        table.add_column(column, overflow="fold")
    for column in ("default\n[us]", "tuned\n[us]", "ratio", "spread"):
        table.add_column(literal(column), justify="right", no_wrap=True)
    for column in last:
        table.add_column(column, overflow="fold")
    return table


def literal(text: str) -> Text:
    """Text that is no markup, whoever prints it: rich takes ``[us]`` for a style."""
    return Text(text)


def date_column(console: Console) -> list[str]:
    """The column for the date of tuning, where it does not squeeze the others."""
    return ["date"] if console.width >= _WIDTH_FOR_DATES else []


def microseconds(milliseconds: float | None) -> str:
    """``12.3`` for 0.0123 ms, ``-`` for None."""
    if milliseconds is None:
        return "-"
    value = milliseconds * 1000
    if value >= _ABSURD:
        return f">{_ABSURD:.0e}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def times(ratio: float | None) -> str:
    """``1.25x``, ``-`` for None."""
    if ratio is None:
        return "-"
    return f"{ratio:.2f}x" if ratio < _ABSURD else f">{_ABSURD:.0e}x"


def percent(share: float | None) -> str:
    """``1.2%`` for 0.012, ``-`` for None."""
    return "-" if share is None else f"{share:.1%}" if share < 10 else ">999%"


def spread_text(spread: float | None, samples: int | None, timing: str | None) -> str:
    """``1.2%``, ``-`` where a single round or two tell none, ``busy`` if it says nothing."""
    if was_disturbed(timing):
        return "busy"
    return percent(None if samples is not None and samples < _ROUNDS_WITH_SPREAD else spread)


def ratio_of(default_ms: float | None, time_ms: float | None, timing: str | None) -> float | None:
    """How many times faster than torch's own product.

    None if a time is lacking, or if other work disturbed them: a reading that had to wait for a
    processor is thousands of times too long.
    """
    if default_ms is None or time_ms is None or was_disturbed(timing):
        return None
    return default_ms / time_ms


def print_results(results: Sequence[Result], title: str) -> None:
    """One row a result: key, times, ratio and its spread, solution, date."""
    console = make_console()
    table = results_table(("op", "params"), ("solution", *date_column(console)))
    for result in results:
        cells = (
            result.op,
            result.params,
            microseconds(result.default_ms),
            microseconds(result.time_ms),
            times(ratio_of(result.default_ms, result.time_ms, result.timing)),
            spread_text(result.spread, result.samples, result.timing),
            result.solution,
            result.date or "-",
        )
        table.add_row(*cells[: len(table.columns)])
    console.print(title)
    console.print(table)
