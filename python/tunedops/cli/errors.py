"""How a command says that it cannot do what was asked."""

from __future__ import annotations


class CliError(Exception):
    """Bad input or an impossible wish; its text is the one line that is printed.

    Whoever raises it has changed no file. The program exits with 2.
    """
