"""Autotuning results for people: a table on a terminal, and one in a notebook."""

from __future__ import annotations

import io
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from tunedops.bound_arguments import BoundArguments
from tunedops.measurement import Measured
from tunedops.table import literal, microseconds, ratio_of, spread_text, times


def table_of(measured: Mapping[BoundArguments, Measured]) -> Table:
    """One row a problem: the call, the device, times, their ratio, and the solution."""
    table = Table()
    for column in ("problem", "device"):
        table.add_column(column, overflow="fold")
    for column in ("default\n[us]", "tuned\n[us]", "ratio", "spread", "tried"):
        table.add_column(literal(column), justify="right", no_wrap=True)
    table.add_column("solution", overflow="fold")
    for bound, m in measured.items():
        table.add_row(
            literal(str(bound)),
            str(bound.device),
            microseconds(m.default_ms),
            microseconds(m.best.time_ms),
            times(ratio_of(m.default_ms, m.best.time_ms, m.timing)),
            spread_text(m.spread, m.best.samples, m.timing),
            str(len(m.measurements)),
            literal(m.best.solution),
        )
    return table


def html_of(measured: Mapping[BoundArguments, Measured]) -> str:
    """The same as HTML."""
    console = Console(
        file=io.StringIO(), record=True, width=160, markup=False, highlight=False, emoji=False
    )
    console.print(table_of(measured))
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")
