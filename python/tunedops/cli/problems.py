"""Turns a file into the problems to tune: a workload, or keys as `op,params` lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tunedops import _C
from tunedops.cli.errors import CliError
from tunedops.cli.text_file import read_text

HEADER = ("suite", "op", "dtype", "layout", "batch", "m", "n", "k")
OPS = ("mm", "bmm", "linear")
LAYOUTS = ("nt", "nn", "tn")
DTYPES = ("float32", "bfloat16", "float16", "float64", "complex64", "complex128")
_MOST = 2**40  # of a dimension, as in keys


@dataclass(frozen=True)
class Problem:
    """One line of a file: the key, and how people call it."""

    op: str
    params: str
    label: str
    suite: str

    @property
    def key(self) -> tuple[str, str]:
        """What a results file knows it by."""
        return (self.op, self.params)

    @property
    def threads(self) -> int | None:
        """The size of torch's pool that the key is for; None on other devices."""
        found = re.search(r"_threads_(\d+)$", self.params)
        return int(found[1]) if found else None


@dataclass(frozen=True)
class _Line:
    """The fields of a line, and where it is (``file:7``)."""

    where: str
    fields: list[str]


def read_problems(path: str, device: tuple[str, int]) -> list[Problem]:
    """The problems of a file in its order, each once.

    Args:
        path: a workload, an untuned file or a results file; its content tells which.
        device: where they would be tuned.

    Raises:
        CliError: a line cannot be understood, with its number; or there is none.
    """
    lines = list(_split(path, read_text(path)))
    if not lines:
        raise CliError(f"{path}: holds no products")
    first = lines[0]
    if tuple(first.fields[: len(HEADER)]) == HEADER:
        problems = [_from_workload(line, len(first.fields), device) for line in lines[1:]]
    elif first.fields[0] == "Validator" or _C.is_problem(device, *_key_of(first)):
        rows = [line for line in lines if line.fields[0] != "Validator"]
        problems = [_from_key(line, device) for line in rows]
    else:
        raise CliError(
            f"{first.where}: expected the header '{','.join(HEADER)}' or 'op,params' "
            f"lines for {device[0]}, got '{','.join(first.fields)}'"
        )
    if not problems:
        raise CliError(f"{path}: holds no products")
    return list({problem.key: problem for problem in reversed(problems)}.values())[::-1]


def _split(path: str, text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            fields = [field.strip() for field in line.split(",")]
            yield _Line(f"{path}:{number}", fields)


def _key_of(line: _Line) -> tuple[str, str]:
    return (line.fields[0], line.fields[1] if len(line.fields) > 1 else "")


def _from_key(line: _Line, device: tuple[str, int]) -> Problem:
    op, params = _key_of(line)
    if not _C.is_problem(device, op, params):
        hint = ""
        if device[0] == "cpu" and "_threads_" not in params:
            hint = " (keys of a CPU end in _threads_<n>)"
        raise CliError(f"{line.where}: '{op},{params}' is no product of {device[0]}{hint}")
    problem = Problem(op, params, f"{op} {params}", suite="")
    processors = max(os.cpu_count() or 1, torch.get_num_threads())
    if problem.threads is not None and problem.threads > processors:
        raise CliError(
            f"{line.where}: the key is for {problem.threads} threads, and this machine "
            f"has {processors} processors"
        )
    return problem


def _from_workload(line: _Line, columns: int, device: tuple[str, int]) -> Problem:
    if len(line.fields) != columns:
        raise CliError(f"{line.where}: expected {columns} fields, got {len(line.fields)}")
    suite, op, dtype, layout, *sizes = line.fields[: len(HEADER)]
    for name, value, known in (
        ("op", op, OPS),
        ("dtype", dtype, DTYPES),
        ("layout", layout, LAYOUTS),
    ):
        if value not in known:
            raise CliError(
                f"{line.where}: {name} must be one of {', '.join(known)}, got '{value}'"
            )
    batch, m, n, k = (
        _size(line, name, text) for name, text in zip(HEADER[4:], sizes, strict=True)
    )
    if op != "bmm" and batch != 1:
        raise CliError(f"{line.where}: batch must be 1 for {op}, got '{batch}'")
    shape = f"{batch}x{m}x{n}x{k}" if op == "bmm" else f"{m}x{n}x{k}"
    label = f"{op} {dtype} {layout} {shape}"
    batches = (batch,) if op == "bmm" else ()
    try:
        mat1, mat2 = _operands(layout, batches, (m, n, k), getattr(torch, dtype), device)
        bias = mat1.new_empty(n) if op == "linear" else None
    except (RuntimeError, OverflowError, MemoryError) as error:
        raise CliError(f"{line.where}: no memory for the operands of {label}") from error
    key = _C.key_of(mat1, mat2, bias)
    if key is None:
        raise CliError(f"{line.where}: {label} cannot be tuned on {device[0]}")
    return Problem(*key, label, suite)


def _size(line: _Line, name: str, text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    if not 1 <= value <= _MOST:
        raise CliError(f"{line.where}: {name} must be a whole number from 1, got '{text}'")
    return value


def _operands(
    layout: str,
    batches: tuple[int, ...],
    sizes: tuple[int, int, int],
    dtype: torch.dtype,
    device: tuple[str, int],
) -> tuple[Tensor, Tensor]:
    """``[..., M, K]`` and ``[..., K, N]``, the transposed one a view; never written to."""
    m, n, k = sizes
    place = torch.device(*device) if device[0] != "cpu" else torch.device("cpu")

    def matrix(rows: int, columns: int, transposed: bool) -> Tensor:
        shape = (columns, rows) if transposed else (rows, columns)
        tensor = torch.empty(*batches, *shape, dtype=dtype, device=place)
        return tensor.transpose(-2, -1) if transposed else tensor

    return matrix(m, k, layout[0] == "t"), matrix(k, n, layout[1] == "t")
