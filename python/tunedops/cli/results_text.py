"""A small reader of results files that asks nobody whether the file fits here.

Only to look at files, those of other machines included. What counts when a product runs
is the compiled module's reader, and the two understand a file alike.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass, field

from tunedops.workloads import COLUMNS


@dataclass(frozen=True)
class Row:
    """One result, as :class:`tunedops.results.Result` has it."""

    op: str
    params: str
    solution: str
    time_ms: float | None
    default_ms: float | None
    timing: str | None
    samples: int | None
    spread: float | None
    margin: float | None
    date: str | None


@dataclass
class ResultsText:
    """What a file holds."""

    validators: list[tuple[str, str]] = field(default_factory=list)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    complaints: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and what is wrong there."""
    lines: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """Where each key stands; the last line counts."""

    @property
    def is_workload(self) -> bool:
        """Whether the text is that of a workload file."""
        return COLUMNS[:2] in self.rows


def parse_results(text: str) -> ResultsText:
    """Reads the text of a results file; of equal keys the last row counts."""
    found = ResultsText()
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        content = line.removesuffix("\r").strip(" \t")
        if not content:
            continue
        if number == len(lines):
            found.complaints.append((number, "the last line does not end and is ignored"))
        elif not content.startswith("#"):
            _take(found, number, content)
    return found


_MOST_FIELDS = 16


def _take(found: ResultsText, number: int, line: str) -> None:
    fields = [part.strip(" \t") for part in line.split(",")]
    if any((ord(c) < 0x20 and c != "\t") or ord(c) == 0x7F for c in line):
        found.complaints.append((number, "holds control characters and is ignored"))
    elif fields[0] == "Validator":
        if len(fields) == 3 and all(fields):
            found.validators.append((fields[1], fields[2]))
        else:
            found.complaints.append((number, "is not 'Validator,KEY,VALUE'"))
    elif len(fields) >= 3 and all(fields[:3]) and len(fields) > _MOST_FIELDS:
        found.complaints.append((number, f"has more than {_MOST_FIELDS} fields and is ignored"))
    elif len(fields) >= 3 and all(fields[:3]):
        op, params, solution, *extra = fields
        time_ms, default_ms, timing, samples, spread, margin, date = (*extra, *[""] * 7)[:7]
        found.lines.setdefault((op, params), []).append(number)
        found.rows[op, params] = Row(
            op,
            params,
            solution,
            _milliseconds(time_ms),
            _milliseconds(default_ms),
            timing if re.fullmatch(r"[A-Za-z0-9_-]{1,32}", timing) else None,
            _count(samples),
            _number(spread),
            _number(margin),
            _day(date),
        )
    else:
        found.complaints.append(
            (number, "is not 'op,params,solution[,time_ms[,...]]' and is ignored")
        )


# Python's own conversions would take more: `1_0`, `+1`, `nan`, digits of other scripts.


def _number(text: str) -> float | None:
    if not re.fullmatch(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def _milliseconds(text: str) -> float | None:
    value = _number(text)
    return value if value else None


def _count(text: str) -> int | None:
    return (int(text) or None) if re.fullmatch("[0-9]{1,9}", text) else None


def _day(text: str) -> str | None:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return str(datetime.date.fromisoformat(text))
    except ValueError:
        return None
