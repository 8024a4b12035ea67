"""A small reader of results files that asks nobody whether the file fits here.

Only to look at files, those of other machines included. What counts when a product runs
is the compiled module's reader, and the two understand a file alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tunedops.workloads import COLUMNS


@dataclass(frozen=True)
class Row:
    """One result. Times are milliseconds; None where the row has none."""

    op: str
    params: str
    solution: str
    time_ms: float | None
    default_ms: float | None


@dataclass
class ResultsText:
    """What a file holds."""

    validators: list[tuple[str, str]] = field(default_factory=list)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    complaints: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and what is wrong there."""

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


def _take(found: ResultsText, number: int, line: str) -> None:
    fields = [part.strip(" \t") for part in line.split(",")]
    if any((ord(c) < 0x20 and c != "\t") or ord(c) == 0x7F for c in line):
        found.complaints.append((number, "holds control characters and is ignored"))
    elif fields[0] == "Validator":
        if len(fields) == 3 and all(fields):
            found.validators.append((fields[1], fields[2]))
        else:
            found.complaints.append((number, "is not 'Validator,KEY,VALUE'"))
    elif len(fields) >= 3 and all(fields[:3]):
        time_ms, default_ms = (_milliseconds(fields[i : i + 1]) for i in (3, 4))
        op, params, solution = fields[:3]
        found.rows[op, params] = Row(op, params, solution, time_ms, default_ms)
    else:
        found.complaints.append(
            (number, "is not 'op,params,solution[,time_ms[,...]]' and is ignored")
        )


def _milliseconds(fields: list[str]) -> float | None:
    try:
        value = float(fields[0])
    except (IndexError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None
