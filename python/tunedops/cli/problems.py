"""Turns a file into the problems to tune: a workload, or keys as `op,params` lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from tunedops import _C
from tunedops.cli.errors import CliError
from tunedops.cli.text_file import read_text
from tunedops.workloads import COLUMNS, Workload, read_workloads


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
    rows = [line for line in lines if line.fields[0] != "Validator"]
    if not rows:
        raise CliError(f"{path}: holds no products")
    first = rows[0]
    if tuple(first.fields[: len(COLUMNS)]) == COLUMNS:
        problems = _from_workloads(path, device)
    elif "TunableOp_" in first.fields[0]:
        problems = [_from_key(line, device) for line in rows]
    else:
        raise CliError(
            f"{first.where}: expected the header '{','.join(COLUMNS)}' or "
            f"'op,params' lines, got '{','.join(first.fields)}'"
        )
    unique: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        unique.setdefault(problem.key, problem)
    return list(unique.values())


def _split(path: str, text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            fields = [field.strip() for field in line.split(",")]
            yield _Line(f"{path}:{number}", fields)


def _from_key(line: _Line, device: tuple[str, int]) -> Problem:
    op, params = line.fields[0], line.fields[1] if len(line.fields) > 1 else ""
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


def _from_workloads(path: str, device: tuple[str, int]) -> list[Problem]:
    try:
        workloads = read_workloads(path)
    except ValueError as error:
        raise CliError(str(error)) from error
    problems = []
    for workload in workloads:
        problems.append(_from_workload(path, workload, device))
        if device[0] == "cuda":
            # Else torch keeps the operands' memory for itself, and tuning lacks it.
            torch.cuda.empty_cache()
    return problems


def _from_workload(path: str, workload: Workload, device: tuple[str, int]) -> Problem:
    place = torch.device(device[0]) if device[0] == "cpu" else torch.device(*device)
    try:
        mat1, mat2, *bias = workload.operands(place)
    except (RuntimeError, TypeError, OverflowError, MemoryError) as error:
        raise CliError(f"{path}: no memory for the operands of '{workload}'") from error
    key = _C.key_of(mat1, mat2, bias[0] if bias else None)
    if key is None:
        raise CliError(f"{path}: '{workload}' cannot be tuned on {device[0]}")
    return Problem(*key, str(workload), workload.suite)
