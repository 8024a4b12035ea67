"""What commands say of results that were timed while other work held the processors."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Protocol

from tunedops import _C
from tunedops.results import was_disturbed


class TimedRow(Protocol):
    """What counts of a result, wherever it was read."""

    @property
    def op(self) -> str: ...
    @property
    def params(self) -> str: ...
    @property
    def timing(self) -> str | None: ...


def words_for_busy(rows: Iterable[TimedRow], device: tuple[str, int], path: str) -> str | None:
    """How many results of a file were, and what measures them again; None if none was."""
    used = [row for row in rows if _C.is_problem(device, row.op, row.params)]
    busy = sum(was_disturbed(row.timing) for row in used)
    if busy == 0:
        return None
    return (
        f"{busy} of {len(used)} results were timed while other work held the processors; "
        f"`{command_for(device, path)}` measures them again"
    )


def command_for(device: tuple[str, int], path: str) -> str:
    """The command that tunes the marked rows of a file in place."""
    words = ["python", "-m", "tunedops", "tune", path]
    if path != _C.filename(device):  # where it writes by itself
        words += ["-o", path]
    if device[0] != "cpu":
        words += ["--device", f"{device[0]}:{device[1]}"]
    return shlex.join(words)
