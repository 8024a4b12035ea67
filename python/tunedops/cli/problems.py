"""Turns a file into the problems to tune: a workload, keys as `op,params` lines, or bound
arguments in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from tunedops import _C
from tunedops.bound_json import looks_like_json
from tunedops.cli.errors import CliError
from tunedops.cli.output import say
from tunedops.cli.text_file import read_text
from tunedops.key_lists import (
    ListedKey,
    bound_keys,
    listed_keys,
    split_lines,
    words_for_foreign,
    words_for_other_devices,
)
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


@dataclass
class Listed:
    """What files list."""

    problems: list[Problem] = field(default_factory=list)
    """In their order, each once."""
    left_out: list[str] = field(default_factory=list)
    """Where lines of lists stand that are no problems of the device, and why they are none."""


def read_problems(paths: Iterable[str], device: tuple[str, int]) -> Listed:
    """The problems of files.

    A bad line of a list (a results file, edited by hand) is left out, as it is where the file is
    used; a workload with one is refused, since it was written to be tuned as a whole.

    Args:
        paths: workloads, untuned files, results files or lists of bound arguments; the content
            of each tells which.
        device: where they would be tuned.

    Raises:
        CliError: a line of a workload cannot be understood, with its number; or a file has no
            problem.
    """
    unique: dict[tuple[str, str], Problem] = {}
    left_out: list[str] = []
    for path in paths:
        listed = _problems_of(path, device)
        for problem in listed.problems:
            unique.setdefault(problem.key, problem)
        left_out += listed.left_out
    return Listed(list(unique.values()), left_out)


def _problems_of(path: str, device: tuple[str, int]) -> Listed:
    text = read_text(path)
    if looks_like_json(text):
        return _from_bound(path, text, device)
    lines = list(split_lines(path, text))
    rows = [line for line in lines if line[1][0] != "Validator"]
    if not rows:
        raise CliError(f"{path}: holds no products")
    where, fields = rows[0]
    if tuple(fields[: len(COLUMNS)]) == COLUMNS:
        return Listed(_from_workloads(path, device))
    if "TunableOp_" in fields[0]:
        return _from_keys(listed_keys(rows), device)
    raise CliError(
        f"{where}: expected the header '{','.join(COLUMNS)}' or 'op,params' lines, got "
        f"'{','.join(fields)}'"
    )


def _from_bound(path: str, text: str, device: tuple[str, int]) -> Listed:
    try:
        keys = bound_keys(path, text)
    except ValueError as error:
        raise CliError(str(error)) from error
    if not any(key.device_type == device[0] for key in keys):
        raise CliError(
            f"{path}: holds no products of {device[0]}; --device {keys[0].device_type} tunes those "
            "that it holds"
        )
    return _from_keys(keys, device)


def _from_keys(keys: list[ListedKey], device: tuple[str, int]) -> Listed:
    for words in (words_for_foreign(keys), words_for_other_devices(keys, device[0])):
        if words is not None:
            say(words)
    found = Listed()
    for key in keys:
        if key.is_foreign or key.device_type not in (None, device[0]):
            continue
        reason = key.reason_against(device)
        if reason is not None:
            found.left_out.append(f"{key.where}: {reason}")
        else:
            label = key.call or f"{key.op} {key.params}"
            found.problems.append(Problem(*key.key, label, suite=""))
    if found.left_out and not found.problems:
        others = len(found.left_out) - 1
        raise CliError(found.left_out[0] + (f"; nor are {others} other lines" if others else ""))
    return found


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
