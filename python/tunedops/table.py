"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tunedops.results import Result


def microseconds(milliseconds: float | None) -> str:
    """``12.3`` for 0.0123 ms, ``-`` for None."""
    return "-" if milliseconds is None else f"{milliseconds * 1000:.4g}"


def ratio(default_ms: float | None, time_ms: float | None) -> str:
    """How many times faster than torch's own product."""
    return "-" if default_ms is None or time_ms is None else f"{default_ms / time_ms:.2f}x"


def print_results(results: Sequence[Result], title: str) -> None:
    """One row a result: key, times, ratio, solution."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    table.add_column("op")
    table.add_column("params", overflow="fold")
    table.add_column("default [us]", justify="right")
    table.add_column("tuned [us]", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("solution", overflow="fold")
    for result in results:
        table.add_row(
            result.op,
            result.params,
            microseconds(result.default_ms),
            microseconds(result.time_ms),
            ratio(result.default_ms, result.time_ms),
            result.solution,
        )
    Console().print(table)
