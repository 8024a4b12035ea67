"""Files of text that other programs may read meanwhile, or that may be anything."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def read_text(path: str | os.PathLike[str]) -> str:
    """All of it, without a byte order mark.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no text; the message says where.
    """
    data = Path(path).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"{os.fspath(path)}:{line}: is not text in UTF-8") from error


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Puts a whole new file in the place of one, so that nobody sees half of it.

    A link stays one, and what is no file (a pipe, a terminal) is written to.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")
        return
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
