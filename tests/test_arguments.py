"""An argument of the wrong type is answered with the function, the argument and what it must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import tunedops


class BytesPath:
    """A path, but not of text."""

    def __fspath__(self) -> bytes:
        return b"x"


def forced(solution: object) -> None:
    with tunedops.force(solution):
        pass


TEXTS: dict[str, Callable[[object], object]] = {
    "force: solution": forced,
    "delete: op": lambda value: tunedops.delete(value, "x"),
    "delete: params": lambda value: tunedops.delete("x", value),
    "mgpu_tune_gemm_in_file: filename_pattern": lambda value: tunedops.mgpu_tune_gemm_in_file(
        value, 1
    ),
}

PATHS: dict[str, Callable[[object], object]] = {
    "set_filename: filename": tunedops.set_filename,
    "read_file: filename": tunedops.read_file,
    "write_file: filename": tunedops.write_file,
    "tune_gemm_in_file: filename": tunedops.tune_gemm_in_file,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", [None, 3, b"x", Path("x")])
def test_text(name: str, value: object) -> None:
    expected = f"{name} must be a str, got {type(value).__name__}"
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        TEXTS[name](value)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("value", [None, 3, b"x", BytesPath()])
def test_a_path(name: str, value: object) -> None:
    if value is None and name.startswith(("read_file", "write_file")):
        return  # the device's own file
    expected = f"{name} must be a str or a path of one, got {type(value).__name__}"
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        PATHS[name](value)


@pytest.mark.parametrize("value", [1.5, b"cpu", ["cpu"]])
def test_a_device(value: object) -> None:
    for function in (tunedops.get_results, tunedops.get_filename, tunedops.summary):
        with pytest.raises(TypeError, match=r"^device must be a str such as 'cpu' or 'cuda:0', "):
            function(value)
