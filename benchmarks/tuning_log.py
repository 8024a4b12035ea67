"""What was tuned, and for how long: read from the lines that the setting VERBOSE=1 writes."""

from __future__ import annotations

import re
from dataclasses import dataclass

TUNED = re.compile(r"(\S+) -> (\w+).*?(?:, tuned in (\S+) ms.*)?")


@dataclass(frozen=True)
class Tuned:
    """One problem that a run tuned."""

    key: str
    solution: str
    ms: float
    """Time that tuning it took; 0 where there was nothing to choose among."""


def read_tuned(log: str) -> list[Tuned]:
    """The problems of a log, in the order in which they were tuned."""
    found = (TUNED.fullmatch(line) for line in log.splitlines())
    return [Tuned(one[1], one[2], float(one[3] or 0)) for one in found if one]
