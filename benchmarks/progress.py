"""Lines on standard error that say how far a long run is, which prints its table at the end.

Who starts one on a busy machine cannot tell otherwise whether it waits for something.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

EVERY = 10.0  # seconds between two lines


def say(line: str) -> None:
    """A line, at once."""
    print(line, file=sys.stderr, flush=True)


def counted(
    total: int, what: str, now: Callable[[], float] = time.monotonic, every: float = EVERY
) -> Iterator[int]:
    """The numbers below `total`; once in a while a line says how many have been done.

    Args:
        total: how many there are.
        what: their name in the plural, such as ``rounds``.
        now: a clock in seconds.
        every: seconds from one line to the next.
    """
    begin = last = now()
    for number in range(total):
        yield number
        if now() - last >= every and number + 1 < total:
            last = now()
            say(f"{number + 1} of {total} {what}, {last - begin:.0f} s")
