"""Turns a file into the problems to tune: a workload, or keys as `op,params` lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from tunedops import _C
from tunedops.cli.errors import CliError
from tunedops.cli.output import say
from tunedops.cli.text_file import read_text
from tunedops.key_lists import ListedKey, listed_keys, split_lines, words_for_foreign
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


def read_problems(paths: Iterable[str], device: tuple[str, int]) -> list[Problem]:
    """The problems of files in their order, each once.

    Args:
        paths: workloads, untuned files or results files; the content of each tells which.
        device: where they would be tuned.

    Raises:
        CliError: a line cannot be understood, with its number; or a file has none.
    """
    unique: dict[tuple[str, str], Problem] = {}
    for path in paths:
        for problem in _problems_of(path, device):
            unique.setdefault(problem.key, problem)
    return list(unique.values())


def _problems_of(path: str, device: tuple[str, int]) -> list[Problem]:
    lines = list(split_lines(path, read_text(path)))
    rows = [line for line in lines if line[1][0] != "Validator"]
    if not rows:
        raise CliError(f"{path}: holds no products")
    where, fields = rows[0]
    if tuple(fields[: len(COLUMNS)]) == COLUMNS:
        return _from_workloads(path, device)
    if "TunableOp_" in fields[0]:
        return _from_keys(listed_keys(rows), device)
    raise CliError(
        f"{where}: expected the header '{','.join(COLUMNS)}' or 'op,params' lines, got "
        f"'{','.join(fields)}'"
    )


def _from_keys(keys: list[ListedKey], device: tuple[str, int]) -> list[Problem]:
    words = words_for_foreign(keys)
    if words is not None:
        say(words)
    problems = []
    for key in keys:
        if not key.is_foreign:
            reason = key.reason_against(device)
            if reason is not None:
                raise CliError(f"{key.where}: {reason}")
            problems.append(Problem(*key.key, f"{key.op} {key.params}", suite=""))
    return problems


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
