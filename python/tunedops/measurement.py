"""What tuning one problem found out, as data."""

from __future__ import annotations

from typing import NamedTuple

from tunedops.results import was_disturbed


class Measurement(NamedTuple):
    """One solution that was tried for a problem. Times are milliseconds of one call."""

    solution: str
    """As a results file names it; ``Default`` is torch's own kernel."""
    time_ms: float | None
    """None: it was not measured, or a row that was written by hand does not say."""
    samples: int | None = None
    """Readings behind the time."""
    refused: str = ""
    """Why it left the race (too slow, wrong, an error), if it did."""


class Measured(NamedTuple):
    """All that was tried for one problem, the solution to use first."""

    measurements: tuple[Measurement, ...]
    default_ms: float | None = None
    """Torch's own kernel, as it was timed beside the winner."""
    timing: str | None = None
    """How it was timed, as in :class:`tunedops.Result`; the same of what follows."""
    spread: float | None = None
    margin: float | None = None
    date: str | None = None

    @property
    def was_disturbed(self) -> bool:
        """Whether other work on the machine disturbed the measurements."""
        return was_disturbed(self.timing)

    @property
    def best(self) -> Measurement:
        """The solution to use: ``Default`` unless another one is faster beyond doubt."""
        return self.measurements[0]
