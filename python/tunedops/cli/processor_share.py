"""Whether this process had to wait for processors that other work held.

Measurements on a busy machine look sound: all of them are disturbed alike. The kernel counts
for each thread how long it ran and how long it was ready to run and did not, and that tells
a busy machine apart from an idle one whatever the number of threads; the load average does
not, since it still holds what ended a minute ago, such as the build before.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass

_ENOUGH_SECONDS = 0.2  # of running and waiting, to say anything
_BUSY = 0.1


@dataclass(frozen=True)
class _Seconds:
    running: float = 0.0
    waiting: float = 0.0


class ProcessorShare:
    """What has happened since this was made."""

    def __init__(self) -> None:
        self._before = _threads()

    def waited(self) -> float:
        """The share of the time that ready threads waited; 0 if that is not known."""
        running = waiting = 0.0
        for thread, now in _threads().items():
            before = self._before.get(thread, _Seconds())
            running += now.running - before.running
            waiting += now.waiting - before.waiting
        total = running + waiting
        return waiting / total if total >= _ENOUGH_SECONDS else 0.0

    def was_lacking(self) -> bool:
        """Whether it waited so much that measurements are not to be trusted."""
        return self.waited() > _BUSY


def _threads() -> dict[str, _Seconds]:
    """What Linux counts for each thread of this process; empty where it does not."""
    found = {}
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path) as file:
                running, waiting, *_ = file.read().split()
            found[path] = _Seconds(int(running) / 1e9, int(waiting) / 1e9)
        except (OSError, ValueError):  # the thread has ended, or nothing is counted
            continue
    return found
