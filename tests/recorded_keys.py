"""The keys that a call records as untuned: what a run says of its own problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import tunedops
from tunedops import _C

Key = tuple[str, str]
_numbers: Iterator[int] = count()


def recorded(folder: Path, call: Callable[[], object], tag: str = "_cpu") -> list[Key]:
    """Runs a call, with nothing stored and nothing tuned, and reads what it missed.

    The names of a device's files end in its tag: `_cpu`, or a GPU's ordinal.
    """
    name = folder / f"recorded{next(_numbers)}.csv"
    _C.set_setting("UNTUNED_FILENAME", str(name))
    tunedops.enable()  # decisions are taken anew
    tunedops.tuning_enable(False)
    tunedops.record_untuned_enable()
    call()
    path = name.with_name(f"{name.stem}{tag}.csv")
    lines = path.read_text().splitlines() if path.exists() else []
    keys = [tuple(line.split(",")) for line in lines]
    return [(op, params) for op, params in keys]
