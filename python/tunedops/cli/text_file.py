"""Files of text, with the command line's errors."""

from __future__ import annotations

from tunedops import text_files
from tunedops.cli.errors import CliError


def read_text(path: str) -> str:
    """The text of a file that somebody else wrote, without a byte order mark.

    Raises:
        CliError: it cannot be read or is no text.
    """
    try:
        return text_files.read_text(path)
    except OSError as error:
        raise CliError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise CliError(str(error)) from error


def write_text(path: str, text: str) -> None:
    """Puts a whole new file in the place of one.

    Raises:
        CliError: it cannot be written.
    """
    try:
        text_files.replace_text(path, text)
    except OSError as error:
        raise CliError(f"cannot write '{path}': {error.strerror}") from error
