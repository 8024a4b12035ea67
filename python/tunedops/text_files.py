"""Files of text that other programs may read meanwhile, or that may be anything."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def read_text(path: str | os.PathLike[str]) -> str:
    """All of it.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("expected text, got a file that is no UTF-8") from error


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Puts a whole new file in the place of one, so that nobody sees half of it."""
    place = Path(path)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
