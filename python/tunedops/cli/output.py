"""What the commands say beside their tables: lines, warnings, errors.

Files may hold anything, so control characters (which a terminal would obey) are made
visible.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_PREFIX = "tunedops: "


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
