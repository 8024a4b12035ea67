"""What the commands print: lines, tables and numbers, always as plain text.

Files may hold anything, so nothing from them is read as markup, and control characters
(which a terminal would obey) are made visible.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.table import Table

_PREFIX = "tunedops: "
# Characters in a line where there is no terminal whose width would count.
_FILE_WIDTH = 200


def visible(text: str) -> str:
    """``text`` with control characters written out (``\\x1b``)."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def say(line: str) -> None:
    """One line on standard error, with the program's name before it."""
    print(_PREFIX + visible(line), file=sys.stderr)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Inside, warnings of the library are lines without a place in the source."""
    with warnings.catch_warnings():
        other = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            text = str(message)
            if text.startswith(_PREFIX):
                say(text.removeprefix(_PREFIX))
            else:
                other(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        # Whatever -W says: the library repeats nothing by itself.
        warnings.filterwarnings("always", message=_PREFIX)
        yield


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Inside, warnings of the library are gathered in the list instead of printed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_PREFIX)
        lines: list[str] = []
        yield lines
        lines += [str(entry.message).removeprefix(_PREFIX) for entry in caught]


def make_console(stderr: bool = False) -> Console:
    """A console that takes text literally."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _FILE_WIDTH
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def results_table(first: Sequence[str], last: Sequence[str]) -> Table:
    """A table for results: the columns ``first``, times and their ratio, then ``last``."""
    table = Table()
    for column in first:
        table.add_column(column, overflow="fold")
    for column in ("default [us]", "tuned [us]", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in last:
        table.add_column(column, overflow="fold")
    return table


def microseconds(milliseconds: float | None) -> str:
    """``12.3`` for 0.0123 ms, ``-`` for None."""
    if milliseconds is None:
        return "-"
    value = milliseconds * 1000
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def times(ratio: float | None) -> str:
    """``1.25x``, ``-`` for None."""
    return "-" if ratio is None else f"{ratio:.2f}x"


def ratio_of(default_ms: float | None, time_ms: float | None) -> float | None:
    """How many times faster than torch's own product; None if a time is lacking."""
    return None if default_ms is None or time_ms is None else default_ms / time_ms
