"""Reads files that somebody else wrote."""

from __future__ import annotations

from tunedops.cli.errors import CliError


def read_text(path: str) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        CliError: it cannot be read or is no text.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise CliError(f"cannot read '{path}': {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CliError(f"{path}:{line}: is not text in UTF-8") from error
