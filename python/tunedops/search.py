"""Which configs tuning tries: the setting ``SEARCH``, for as long as one call takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tunedops import _C

SEARCHES = ("proposals", "guided", "exhaustive")
"""The values of the setting: those that kernels propose; what a search finds besides, within
the budget; all that there are."""


def check_search(caller: str, search: str | None) -> None:
    """Raises ValueError unless a caller's argument is None or one of the values."""
    if search is not None and search not in SEARCHES:
        raise ValueError(
            f"{caller}: search must be {', '.join(SEARCHES[:-1])} or {SEARCHES[-1]}, got {search!r}"
        )


@contextmanager
def searching(search: str | None) -> Iterator[None]:
    """Inside, the setting is as asked for, unless the environment says otherwise.

    Args:
        search: None: as the setting is.
    """
    if search is None:
        yield
        return
    before = _C.setting("SEARCH")
    _C.set_setting("SEARCH", search)
    try:
        yield
    finally:
        _C.set_setting("SEARCH", before)
