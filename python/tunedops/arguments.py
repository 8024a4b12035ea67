"""What public functions say of an argument of the wrong type.

The compiled module would answer with its own signature, which names neither the function that
was called nor what it expects.
"""

from __future__ import annotations

import os


def text_of(caller: str, name: str, value: object) -> str:
    """An argument that is text.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{caller}: {name} must be a str, got {type(value).__name__}")
    return value


def path_of(caller: str, name: str, value: object) -> str:
    """An argument that names a file.

    Raises:
        TypeError: it is something else; bytes too, since names of files are text here.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise TypeError(
            f"{caller}: {name} must be a str or a path of one, got {type(value).__name__}"
        )
    return path
